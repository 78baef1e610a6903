#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root
# What the README shows is what happens: its console blocks are run and compared.
load helpers

@test "the commands of the README print what it says" {
  awk '
    /^```console$/ { inside = 1; next }
    /^```/ { inside = 0; next }
    inside && /^\$ / { n++; print substr($0, 3) >(n ".command"); printf "" >(n ".want"); next }
    inside { print >(n ".want") }
  ' "$root/README.md"
  n=0
  for command in *.command; do
    n=$((n + 1))
    sed "s,build/dljob,$DLJOB," "$command" >script
    (cd "$root" && sh "$BATS_TEST_TMPDIR/script") >got 2>&1 || true
    diff "${command%.command}.want" got
  done
  [ "$n" -ge 3 ]
}
