#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# A person's first ten minutes: what docs/local.md shows of a fresh clone and of a script on three processes is what
# happens.
load helpers
load local-cluster

teardown() {
  dljob local reset --yes >/dev/null 2>&1 || true
}

# even: what differs from time to time made alike: replicas come in any order, and the states on the way to their start
# may be passed by, or be seen more than once. What kills its own pod may be told so, or be quicker.
even() {
  sed -E '/: Pending: creating [a-z]+-[0-9]+( \(and [0-9]+ more\))?$/d
    /: Creating: waiting for [a-z]+-[0-9]+( \(and [0-9]+ more\))? to start$/d
    /^dljob exec: .*: the pod has ended$/d
    s/after [0-9.]+ s/after N s/; s/the last [0-9]+s ago/the last N ago/; s/127\.0\.0\.1:[0-9]+, pid [0-9]+/ADDRESS/' |
    LC_ALL=C sort
}

# matches WANT GOT: the lines of WANT and no others, but for those that a last line "…" leaves out.
matches() {
  if grep -qx '…' "$1"; then
    grep -vx '…' "$1" | even >want.even || true
    even <"$2" >got.even
    LC_ALL=C comm -23 want.even got.even >missing
    [ ! -s missing ] || { cat missing "$2"; return 1; }
  else
    diff <(even <"$1") <(even <"$2")
  fi
}

# clone: a fresh one, in which `make` finds what was built here, and what was fetched for it.
clone() {
  local built
  built=$(realpath "$(dirname "$DLJOB")")
  [ -f "$built/build.ninja" ] || built=build
  git clone -q "$root" clone
  mkdir clone/build
  [ ! -e "$root/build/deps" ] || ln -s "$root/build/deps" clone/build/deps
  cat >bin/make <<SH
#!/bin/sh
unset MAKEFLAGS MFLAGS MAKELEVEL
exec $(command -v make) -s -C "$PWD/clone" BUILD="$built" "\$@"
SH
  chmod +x bin/make
}

@test "the first ten minutes as docs/local.md shows them" {
  awk '
    /^# train.py$/ { script = 1; next }
    /^```console$/ { inside = 1; next }
    /^```/ { script = inside = 0; next }
    script { print >"train.py" }
    inside && /^\$ / {
      n++
      print substr($0, 3) >(sprintf("%02d.command", n))
      printf "" >(sprintf("%02d.want", n))
      next
    }
    inside { print >(sprintf("%02d.want", n)) }
  ' "$root/docs/local.md"
  mkdir bin
  ln -s "$DLJOB" bin/dljob
  clone
  n=0
  for command in *.command; do
    n=$((n + 1))
    PATH=$PWD/bin:$PATH sh "$command" >got 2>&1 3>&- || { cat "$command" got; return 1; }
    matches "${command%.command}.want" got || { cat "$command"; return 1; }
  done
  [ "$n" -ge 14 ]
  [ ! -e home/lock ] || [ -z "$(cluster_pid)" ]
}
