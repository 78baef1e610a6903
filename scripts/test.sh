#!/bin/sh
# Builds build/ and build-asan/ and runs every test there is. One line for each suite, the whole
# output of what failed, and "N passed, M failed" at the end.
#
#   scripts/test.sh            everything
#   scripts/test.sh PATTERN    only the suites whose name matches the (grep) pattern
set -eu
cd "$(dirname "$0")/.."

pattern=${1:-.}
jobs=$(nproc 2>/dev/null || echo 2)
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM
export RESULTS="$results"

build() {
  start=$(date +%s)
  scripts/build.sh "$@" >"$results/build.log" 2>&1 || {
    cat "$results/build.log"
    echo "test: $1 does not build" >&2
    echo "0 passed, 1 failed"
    exit 1
  }
  printf '%-32s %18s %4ds\n' "build $1" '' $(($(date +%s) - start))
}

# name<TAB>command, longest first, so that the cores end together.
suites() {
  for b in build build-asan; do
    san=
    [ $b = build ] || san=' (sanitized)'
    # Sanitizers are slow: they get fewer seeds.
    [ $b = build ] && sim="100 10000" || sim="10 10000 1"
    printf 'simulator%s\t%s\n' "$san" "test/simulator $b/dl-sim $sim"
    for f in test/e2e/*.bats; do
      [ -e "$f" ] || continue
      # An image is of a build without sanitizers.
      [ "$b ${f##*/}" != "build-asan image.bats" ] || continue
      printf '%s%s\t%s\n' "$(basename "$f")" "$san" "DLJOB=$PWD/$b/dljob bats --tap $f"
    done
    for t in "$b"/test/*_test; do
      [ -x "$t" ] || continue
      printf '%s%s\t%s\n' "$(basename "$t")" "$san" "$t"
    done
  done
  printf 'tidy\ttest/tidy\n'
  printf 'tidy_test\ttest/tidy_test\n'
}

build build
build build-asan -Db_sanitize=address,undefined -Db_lundef=false

suites | grep -e "$pattern" >"$results/suites" || { echo "test: no suite matches $pattern" >&2; exit 2; }
# Each suite writes its counts into a file of its own; a suite that dies leaves none.
xargs -d '\n' -n 1 -P "$jobs" scripts/suite.sh <"$results/suites" || true

want=$(wc -l <"$results/suites")
cat "$results"/*.counts 2>/dev/null | awk -v want="$want" '
  { passed += $1; failed += $2; skipped += $3; n++ }
  END {
    if (n != want) { print want - n " suites did not run to their end"; failed += want - n }
    if (skipped) print skipped " skipped"
    print passed + 0 " passed, " failed + 0 " failed"
    exit (failed > 0)
  }'
