#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2317 # the helpers set what is read here; eventually calls what is there
# Whoever wants the end is heard while hundreds of replicas start.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

many() { trainers many 'exec sleep 1000' 300; }

# Some have begun; most have not.
some() { [ "$(find "$1" -name state.json | wc -l)" -ge 5 ]; }

start_many() {
  up
  many | submit
  eventually 120 some home/pods
}

@test "down --now while 300 replicas start" {
  start_many
  remember
  timeout 240 "$DLJOB" local down --now
  nothing_left
}

@test "SIGTERM while 300 replicas start" {
  start_many
  remember
  pid=$(cluster_pid)
  kill -TERM "$pid"
  gone() { [ ! -e "/proc/$pid" ]; }
  eventually 240 gone
  nothing_left
}

@test "Ctrl-C while 300 replicas start" {
  many >job.yaml
  mkdir tmp
  TMPDIR=$PWD/tmp "$DLJOB" run job.yaml >out 2>&1 3>&- &
  echo $! >run.pid
  eventually 120 some tmp
  kill -INT "$(cat run.pid)"
  ended() { [ ! -e "/proc/$(cat run.pid)" ]; }
  eventually 240 ended
  status=0
  wait "$(cat run.pid)" || status=$?
  is "$status" 130
  is "$(ls tmp)" ""
}
