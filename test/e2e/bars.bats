#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2016 # the helpers set what is read here; scripts are for other shells
# Progress bars: programs that redraw a line with carriage returns, shown while they draw.
load helpers
load local-cluster

teardown() {
  kill_started
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# bar NAME REPLICA: a script whose bar goes on once its last state was shown in the file NAME.
bar() {
  : >"$1"
  cat <<SH
shown() { until grep -aq "$2 | .*\$1" $PWD/$1; do sleep 0.05; done; }
printf 'begin\nat 1\r'
shown "at 1"
printf '\033[2K\033[45mat 2\033[0m\r'
shown "at 2"
i=0
while [ \$i -lt 300 ]; do i=\$((i + 1)); printf "quick \$i\r"; done
printf 'last state\r'
shown "last state"
printf 'at the end\n'
SH
}

# what_came: of a single replica into a pipe: each state, as it was written.
what_came() {
  printf '%s | begin\n%s | at 1\r\033[2K\033[45mat 2\033[0m\r' "$1" "$1"
  seq -f 'quick %.0f' 300 | tr '\n' '\r'
  printf 'last state\rat the end\n'
}

@test "a single replica into a pipe: raw, as it draws" {
  bar shown 'worker-0' >bar.sh
  dljob run -q -n 1 -- sh bar.sh | cat >shown
  what_came worker-0 | cmp - shown
  up >/dev/null
  bar followed 'trainer-0' >bar.sh
  job bar "sh $PWD/bar.sh" | submit >/dev/null
  dljob logs --local -q -f bar | cat >followed
  what_came trainer-0 | cmp - followed
}

# screen_is FILE REPLICA…: in the end the terminal shows each replica's lines, and no bar.
screen_is() {
  local file=$1 r
  shift
  "$root/test/e2e/screen.py" <"$file" | sort >screen
  for r; do printf '%s\n' "$r | at the end" "$r | begin"; done | diff screen -
}

@test "several replicas at a terminal: the last state of each, without escapes" {
  export NO_COLOR=1
  bar typed 'worker-$RANK' >bar.sh
  "$root/test/e2e/typist.py" "$DLJOB" run -q -n 2 -- sh bar.sh </dev/null >typed
  screen_is typed worker-0 worker-1
  # Of what changes faster than it is drawn only some states are.
  [ "$(grep -ao 'quick [0-9]*' typed | wc -l)" -lt 300 ]
  up >/dev/null
  bar followed 'trainer-$TRAININGJOB_REPLICA_INDEX' >bar.sh
  job bars "sh $PWD/bar.sh" 2 | submit >/dev/null
  "$root/test/e2e/typist.py" "$DLJOB" logs --local -q -f bars </dev/null >followed
  screen_is followed trainer-0 trainer-1
}

@test "several replicas into a pipe: whole lines, each when it ends" {
  cat >bar.sh <<'SH'
printf 'a\rb\rc\n'
printf 'd\re\n'
SH
  dljob run -q -n 2 -- sh bar.sh | sort >shown
  printf 'worker-%d | a\rb\rc\nworker-%d | d\re\n' 0 0 1 1 | cmp - shown
}
