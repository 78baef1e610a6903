#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2317 # the helpers set what is read here, and call what is defined
# dljob logs --archive and --from, on the cluster on this machine.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# keep [options]: goes on in the background.
keep() {
  "$DLJOB" logs --local -q --archive kept --all -f "$@" >keep.out 2>keep.err 3>&- &
  echo $! >keep.pid
}

# stop_keeping SIGNAL
stop_keeping() {
  kill "-$1" "$(cat keep.pid)"
  status=0
  wait "$(cat keep.pid)" || status=$?
  rm keep.pid
}

# texts FILE…: without the times, on one line.
texts() { cat "$@" | sed 's/^[^ ]* //' | paste -s -d ,; }

# log NAME REPLICA GENERATION: the file.
log() { echo kept/default/AITrainingJob.elasticdeeplearning.ai/"$1"/*/"trainer-$2/$3.aitj-main.log"; }

# ends_with NAME REPLICA GENERATION TEXT: that is the last line of its file.
ends_with() { is "$(tail -n 1 "$(log "$1" "$2" "$3")" | sed 's/^[^ ]* //')" "$4"; }

@test "what was removed is kept: every replica, every generation" {
  up
  keep
  # Cleaned up at its end, and restarted once. A pod that lives for a moment only may be missed: each waits until
  # its log has been seen.
  # shellcheck disable=SC2016 # the pod's shell
  POLICY=OnFailure trainers twice 'cd '"$PWD"'; echo "$HOSTNAME begins";
    if [ -e "mark-$HOSTNAME" ]; then n=second; else touch "mark-$HOSTNAME"; n=first; fi;
    echo $n; until [ -e "seen-$n" ]; do sleep 0.1; done; [ $n = second ]' 2 | submit
  for i in 0 1; do
    eventually 60 ends_with twice $i 0 first
  done
  touch seen-first
  for i in 0 1; do
    eventually 60 ends_with twice $i 1 second
  done
  touch seen-second
  ended twice Succeeded
  for i in 0 1; do
    is "$(texts "$(log twice $i 0)")" "twice-trainer-$i begins,first"
    is "$(texts "$(log twice $i 1)")" "twice-trainer-$i begins,second"
  done
  dljob delete --local -q twice >/dev/null
  # Told to end, it does, and that is well. (An end that nobody wanted would be none.)
  stop_keeping TERM
  is "$status $(cat keep.err)" "0 "

  # Without any cluster.
  dljob local down --now >/dev/null
  split dljob logs twice --from kept
  is "$status $err" "0 "
  is "$(sort <<<"$out" | paste -s -d ,)" "$(printf '%s,' \
    "trainer-0 | first" "trainer-0 | second" "trainer-0 | twice-trainer-0 begins" "trainer-0 | twice-trainer-0 begins" \
    "trainer-1 | first" "trainer-1 | second" "trainer-1 | twice-trainer-1 begins" "trainer-1 | twice-trainer-1 begins" |
    sed 's/,$//')"
  times=$(dljob logs aitj/twice -n default --from kept --timestamps | sed 's/^[^|]*| //; s/ .*//')
  is "$times" "$(sort <<<"$times")"
  is "$(dljob logs twice --from kept --index 1 --tail 1 | paste -s -d ,)" "trainer-1 | first,trainer-1 | second"
  is "$(dljob logs twice --from kept --index 1 --tail 0)" ""
  is "$(dljob logs twice --from kept -o json --index 0 --tail 1 |
    jq -c '[.role, .index, .generation, .container, .text]' | paste -s -d ' ')" \
    '["trainer",0,0,"aitj-main","first"] ["trainer",0,1,"aitj-main","second"]'
}

@test "killed at any moment and started again: no line is lost, none is there twice" {
  up
  keep
  # shellcheck disable=SC2016 # the pod's shell
  job count 'i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i + 1));
    [ $((i % 100)) != 0 ] || sleep 0.1; done' | submit
  has_begun() { [ -s "$(log count 0 0)" ]; }
  eventually 60 has_begun
  for _ in 1 2 3 4 5; do
    stop_keeping KILL
    # The end of a line that was being written.
    size=$(stat -c %s "$(log count 0 0)")
    truncate -s $((size > 5 ? size - 5 : size)) "$(log count 0 0)"
    keep
    grows() { [ "$(stat -c %s "$(log count 0 0)")" -gt "$size" ] || ends_with count 0 0 "line 2999"; }
    eventually 60 grows
  done
  ended count Succeeded
  eventually 60 ends_with count 0 0 "line 2999"
  sed 's/^[^ ]* //' "$(log count 0 0)" >texts
  seq -f 'line %g' 0 2999 | cmp - texts
  # Again, with everything there already.
  stop_keeping KILL
  before=$(sha256sum <"$(log count 0 0)")
  is "$(dljob logs --local -q --archive kept count)" "1 logs archived in kept"
  is "$(sha256sum <"$(log count 0 0)")" "$before"
}

@test "one job until its end; once; only some replicas" {
  up
  job one 'sleep 0.5; echo done' 2 | submit
  split timeout 60 "$DLJOB" logs --local -q --archive kept -f one
  is "$status $out" "0 2 logs archived in kept"
  is "$(texts "$(log one 0 0)")" "done"
  job other 'echo x' 3 | submit
  ended other Succeeded
  is "$(dljob logs --local -q --archive kept aitj/other --role trainer --index 2)" "1 logs archived in kept"
  is "$(texts "$(log other 2 0)")" "x"
  [ ! -e "$(log other 0 0)" ]
  is "$(dljob logs --local -q --archive all --all)" "5 logs archived in all"
  is "$(dljob logs --local -q --archive every -A)" "5 logs archived in every"
  is "$(dljob logs --local -q --archive none -n nowhere --all)" "0 logs archived in none"
}

@test "the archive keeps to its limits: the oldest jobs go" {
  up
  for n in 1 2 3; do
    job "big$n" 'head -c 30000 /dev/zero | tr "\0" x | fold -w 99; echo' | submit
    ended "big$n" Succeeded
    dljob logs --local -q --archive kept "big$n" >/dev/null
    # Of another second, whatever the file system counts in.
    touch -d "@$((1700000000 + n))" kept/default/*/"big$n"/*/*/*
  done
  echo mine >kept/notes
  is "$(dljob logs --local -q --archive kept --all -n none --max-bytes 130k)" "0 logs archived in kept"
  is "$(cd kept/default/* && echo *)" "big2 big3"
  is "$(dljob logs --local -q --archive kept/ --all -n none --max-bytes 0 --max-age 1h)" "0 logs archived in kept/"
  is "$(ls kept)" notes
}

@test "one that writes all the time is cut, and the rest goes on" {
  up
  keep --max-bytes 64k
  # shellcheck disable=SC2016 # the pod's shell
  job loud 'i=0; while [ $i -lt 5000 ]; do echo "line $i 0123456789012345678901234567890123456789"; i=$((i + 1));
    [ $((i % 50)) != 0 ] || sleep 0.02; done; sleep 2; echo the end' | submit
  ended loud Succeeded
  eventually 60 ends_with loud 0 0 "the end"
  stop_keeping TERM
  [ "$(stat -c %s "$(log loud 0 0)")" -lt 100000 ]
  # What is left is whole lines without a hole.
  sed 's/^[^ ]* line \([0-9]*\) .*/\1/; $d' "$(log loud 0 0)" >numbers
  seq "$(head -n 1 numbers)" 4999 | cmp - numbers
}

@test "the cluster goes away and comes back" {
  up
  keep
  job wait 'echo begins; until [ -e '"$PWD"'/go ]; do sleep 0.1; done; echo ends' | submit
  has_begun() { ends_with wait 0 0 begins; }
  eventually 60 has_begun
  kill_cluster
  up
  touch go
  ended wait Succeeded
  eventually 90 ends_with wait 0 0 ends
  is "$(texts "$(log wait 0 0)")" "begins,ends"
  stop_keeping INT
  is "$status" 0
}

@test "one writer for one archive, and other mistakes" {
  up
  keep
  locked() { [ -e kept/.lock ]; }
  eventually 60 locked
  split timeout 60 "$DLJOB" logs --local -q --archive kept --all
  is "$status" 1
  is "$err" "dljob logs: kept: another 'dljob logs --archive' is writing to it"
  stop_keeping TERM
  # What is asked | what is said
  while IFS='|' read -r options said; do
    # shellcheck disable=SC2086 # words
    split dljob logs --local -q $options
    is "$status" 2
    has "$err" "$said"
  done <<'TABLE'
--archive d|which job? --all: all jobs of the namespace
--archive d --all job|a job or --all, not both
--archive d job --tail 3|writes whole logs
--archive d --from e job|writes whole logs
--archive d --all --max-bytes much|--max-bytes wants a size such as 500M or 10Gi, not 'much'
--archive d --all --max-age long|--max-age wants a time such as 24h or 720h, not 'long'
--all job|are for --archive
--from d -f job|--from reads an archive
--from d nokind/job|nokind
TABLE
  split dljob logs --local -q --archive /proc/none --all
  is "$status" 1
  has "$err" "/proc/none: No such file or directory"
  split dljob logs job --from nowhere
  is "$status $err" "1 dljob logs: nowhere: No such file or directory"
  mkdir -p d/a/K.g/job/u/w-0 d/b/K.g/job/u/w-0 d/a/K.g/job/u/../../../../x
  split dljob logs job --from d
  is "$status $err" "1 dljob logs: the archive has no matching log"
  echo "2026-01-02T03:04:05Z from a" >d/a/K.g/job/u/w-0/0.main.log
  echo "2026-01-02T03:04:05Z from b" >d/b/K.g/job/u/w-0/0.main.log
  split dljob logs job --from d
  is "$status" 1
  has "$err" "there are several jobs of that name: K.g in namespace a and K.g in namespace b; choose with \
KIND/NAME and -n"
  is "$(dljob logs job --from d -n b)" "w-0 | from b"
  # Another job of the name, later: that one.
  mkdir -p d/a/K.g/job/later/w-0
  echo "2026-01-02T03:04:06Z again" >d/a/K.g/job/later/w-0/0.side.log
  echo "2026-01-02T03:04:07Z and again" >d/a/K.g/job/later/w-0/0.main.log
  touch -d @1700000000 d/a/K.g/job/u/w-0/0.main.log
  is "$(dljob logs job --from d -n a | paste -s -d ,)" "w-0/side | again,w-0/main | and again"
  is "$(dljob logs job --from d -n a -c side)" "w-0 | again"
  echo "2199-01-02T03:04:07Z not yet" >>d/a/K.g/job/later/w-0/0.main.log
  is "$(dljob logs job --from d -n a --since 1h)" "w-0/main | not yet"
}
