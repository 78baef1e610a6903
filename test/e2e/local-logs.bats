#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set what is read here
# The logs of pods that are gone, on the cluster on this machine.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -e stopped ]; then kill -CONT "$(cat stopped)" || true; fi
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# cleaned NAME SCRIPT [REPLICAS]: a job whose pods are removed at its end.
cleaned() { job "$@" | sed /cleanPodPolicy/d; }

no_pods() { is "$(api "$pods" | jq -r '.items[].metadata.name')" ""; }

@test "a job that is cleaned up: its logs are there until the job goes" {
  up
  # shellcheck disable=SC2016 # the pod's shell
  cleaned tidy 'for i in 1 2 3; do echo "$HOSTNAME $i"; done; sleep 0.3; echo end' 2 | submit
  ended tidy Succeeded
  eventually 60 no_pods
  split dljob logs tidy --local -q
  is "$status $err" "0 "
  for r in 0 1; do
    is "$(grep "^trainer-$r |" <<<"$out" | sed 's/.*| //' | tr '\n' ,)" \
      "tidy-trainer-$r 1,tidy-trainer-$r 2,tidy-trainer-$r 3,end,"
  done
  # In the order of time.
  times=$(dljob logs tidy --local -q --timestamps | sed 's/^[^|]*| //; s/ .*//')
  is "$times" "$(sort <<<"$times")"
  is "$(dljob logs tidy --local -q --role trainer --index 1 --tail 1)" "trainer-1 | end"
  is "$(dljob logs tidy --local -q -f | sort)" "$(sort <<<"$out")"
  is "$(api "$pods/tidy-trainer-0/log?tailLines=1")" end
  is "$(KUBECONFIG=home/kubeconfig "$DLJOB" logs tidy -q --index 0 --tail 1)" "trainer-0 | end"
  split dljob logs tidy --local -q --previous
  is "$status" 1
  is "$err" "dljob logs: no container of tidy has an earlier log"

  # Whatever becomes of the cluster.
  kill_cluster
  up
  is "$(dljob logs tidy --local -q --index 1 --tail 1)" "trainer-1 | end"

  has "$(ls home/logs)" -
  dljob delete --local -q tidy >/dev/null
  nothing_kept() { is "$(ls home/logs)" ""; }
  eventually 60 nothing_kept
  is "$(api "$pods/tidy-trainer-0/log" | jq -r .reason)" NotFound
}

@test "a job that was restarted: what the pods before wrote" {
  up
  # shellcheck disable=SC2016 # the pod's shell
  POLICY=OnFailure cleaned again \
    'if [ -e '"$PWD"'/mark ]; then echo second; else touch '"$PWD"'/mark; echo first; exit 1; fi' | submit
  ended again Succeeded
  eventually 60 no_pods
  is "$(dljob logs again --local -q)" "trainer-0 | second"
  is "$(dljob logs again --local -q --previous)" "trainer-0 | first"

  rm mark
  POLICY=OnFailure cleaned runs \
    'if [ -e '"$PWD"'/mark ]; then echo second; sleep 1000; else touch '"$PWD"'/mark; echo first; exit 1; fi' | submit
  second() { is "$(dljob logs runs --local -q)" "trainer-0 | second"; }
  eventually 60 second
  is "$(dljob logs runs --local -q --previous)" "trainer-0 | first"
}

# background NAME COMMAND…: its output is in NAME.out and NAME.err.
background() {
  local name=$1
  shift
  "$@" >"$name.out" 2>"$name.err" 3>&- &
  echo $! >"$name.pid"
}

said() { has "$(cat "$1.err")" "dljob $1: the API server $2"; }

@test "over down and up: each line once, and who waits is told that nobody answers" {
  up
  cat >steps.sh <<'SH'
read -r id </proc/sys/kernel/random/uuid
echo "begin $id"
i=0
while [ ! -e enough ]; do
  i=$((i + 1))
  echo "$id $i"
  sleep 0.05
done
echo "end $id"
SH
  job steps "cd $PWD; . ./steps.sh" | submit
  url=https://127.0.0.1:$(cat home/port)
  background logs "$DLJOB" logs steps --local -q -f
  background wait "$DLJOB" wait steps --local -q
  background get "$DLJOB" get steps --local -q -w
  lines() { [ "$(grep -c "$1" logs.out)" -ge "$2" ]; }
  eventually 60 lines begin 1
  eventually 60 lines ' 5$' 1
  dljob local down >/dev/null
  for command in logs wait get; do eventually 60 said "$command" "($url) does not answer; still trying"; done
  up
  for command in logs wait get; do eventually 60 said "$command" "answers again"; done
  eventually 60 lines begin 2
  eventually 60 lines ' 5$' 2
  touch enough
  wait "$(cat logs.pid)"
  wait "$(cat wait.pid)"
  rm logs.pid wait.pid
  is "$(sort logs.out | uniq -d)" ""
  # Of each run all lines: those that it counted, and no gap.
  sed -n "s/.*begin //p" logs.out >ids
  while read -r id; do
    grep -o "$id [0-9]*\$" logs.out | cut -d ' ' -f 2 >numbers
    is "$(cat numbers)" "$(seq "$(wc -l <numbers)")"
  done <ids
  is "$(grep -c end logs.out)" 1
}

@test "a server that stands still, on connections that live: who waits is told, and that it goes on" {
  up
  job one "echo begin; until [ -e $PWD/enough ]; do sleep 0.1; done; echo end" | submit
  url=https://127.0.0.1:$(cat home/port)
  dljob wait one --local -q --for running --timeout 60s
  background wait "$DLJOB" wait one --local -q
  background get "$DLJOB" get one --local -q -w
  background logs "$DLJOB" logs one --local -q -f
  eventually 60 grep -q begin logs.out
  eventually 60 grep -q Running get.out
  cluster_pid >stopped
  kill -STOP "$(cat stopped)"
  for command in logs wait get; do eventually 60 said "$command" "($url) does not answer; still trying"; done
  kill -CONT "$(cat stopped)"
  for command in logs wait get; do eventually 60 said "$command" "answers again"; done
  touch enough
  wait "$(cat logs.pid)"
  wait "$(cat wait.pid)"
  rm logs.pid wait.pid
  is "$(cat logs.out)" "trainer-0 | begin
trainer-0 | end"
  has "$(cat wait.out)" "one Succeeded"
  eventually 60 grep -q Succeeded get.out
}

# unread NAME COMMAND…: its reader leaves after a line; NAME.status is its exit status.
unread() {
  local name=$1 status=0
  shift
  {
    timeout 60 "$DLJOB" "$@" --local -q 3>&- || status=$?
    echo $status >"$name.status"
  } 2>"$name.err" | head -n 1 >"$name.first"
}

@test "a reader that leaves ends what is shown, quietly" {
  up
  job busy 'while :; do echo line; sleep 0.1; done' >busy.yaml
  job quiet 'echo line; exec sleep 1000' | submit
  submit <busy.yaml
  dljob wait --local -q --for running --timeout 60s busy
  dljob wait --local -q --for running --timeout 60s quiet
  # All at once: those that have nothing to write find it out when they ask whether the server is still there.
  unread logs logs -f busy &
  unread quiet logs -f quiet &
  unread list list -w &
  unread get get quiet -w &
  unread submit submit --logs --suffix 2 busy.yaml &
  wait
  for name in logs quiet list get submit; do
    is "$name $(cat $name.status)$(cat $name.err)" "$name 1"
    [ -s $name.first ]
  done
  phase_is busy-2 Running
}

# missing FILE: how many lines it says are missing.
missing() { awk -F '[][ ]' '/ missing here: /{n += $4} END{print n + 0}' "$1"; }

@test "a million lines: none is lost in silence" {
  up
  job million 'seq 1000000' >job.yaml
  dljob submit --local -q --logs job.yaml >out
  shown=$(grep -c '^trainer-0 | [0-9]*$' out)
  is "$((shown + $(missing out)))" 1000000
  is "$(sed -n 's/^trainer-0 | \([0-9]*\)$/\1/p' out | sort -nuc && echo in order)" "in order"

  # More than is kept, and nobody read it.
  job much 'seq 1500000' | submit
  ended much Succeeded
  dljob logs --local -q much >out
  has "$(head -n 1 out)" "lines are missing here: written faster than read, and of a container's log only the newest"
  [ "$(missing out)" -gt 100000 ]
  is "$(($(wc -l <out) - 1 + $(missing out)))" 1500000
  has_not "$(dljob logs --local -q much --tail 5)" missing
}
