#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2317 # the helpers set what is read here; eventually calls what is there
# Whoever wants the end is heard while hundreds of replicas start.
load helpers
load local-cluster

teardown() {
  [ ! -e caught ] || kill -CONT "$(cat caught)" 2>/dev/null || true
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# many [SCRIPT]: what each of them does first. Their grace period is an hour: nobody waits for that.
many() {
  trainers many "${1:-}exec sleep 10000" 300 |
    sed 's/terminationGracePeriodSeconds: 5/terminationGracePeriodSeconds: 3600/'
}
deaf='trap "" TERM; '

# How many pods have a folder, which they get when they are started.
started() { find "$1" -path '*/pods/*' -prune -type d | wc -l; }

# Some have been started; most have not.
some() { [ "$(started "$1")" -ge 5 ]; }

# catch PID FOLDER: in the middle of the start. It stands still until resume(), so that it gets no further while we are
# slow.
catch() {
  eventually 120 some "$2"
  echo "$1" >caught
  kill -STOP "$1"
  not_all "$2"
}

# resume PID
resume() { kill -CONT "$1"; }

# A loop that starts pods and hears nobody meanwhile would have started all of them.
not_all() {
  echo "$(started "$1") of 300 were started"
  [ "$(started "$1")" -lt 300 ]
}

gone() { [ ! -e "/proc/$1" ]; }

start_many() {
  up
  many "$@" | submit
  pid=$(cluster_pid)
  catch "$pid" home
}

@test "down --now while 300 replicas start that ignore SIGTERM" {
  start_many "$deaf"
  remember
  "$DLJOB" local down --now 3>&- &
  echo $! >down.pid
  # It has sent its word.
  told() { grep -q '^ShdPnd:.*[1-9a-f]' "/proc/$pid/status"; }
  eventually 60 told
  resume "$pid"
  wait "$(cat down.pid)"
  not_all home
  nothing_left
}

@test "SIGTERM while 300 replicas start" {
  start_many
  remember
  kill -TERM "$pid"
  resume "$pid"
  eventually 240 gone "$pid"
  not_all home
  nothing_left
}

@test "Ctrl-C, and another one, while 300 replicas start that ignore SIGTERM" {
  many "$deaf" >job.yaml
  mkdir tmp
  TMPDIR=$PWD/tmp "$DLJOB" run job.yaml >out 2>&1 3>&- &
  echo $! >run.pid
  pid=$(cat run.pid)
  catch "$pid" tmp
  kill -INT "$pid"
  resume "$pid"
  eventually 120 grep -q "interrupt again" out
  not_all tmp
  kill -INT "$pid"
  eventually 240 gone "$pid"
  status=0
  wait "$pid" || status=$?
  is "$status" 130
  is "$(ls tmp)" ""
}
