#!/usr/bin/env bash
# Runs every test there is once, sanitized. One line for each suite, the whole output of what failed, and
# "N passed, M failed" at the end; at a terminal a line below says how far it is.
#
#   scripts/test.sh                    everything, built with ASan and UBSan in build-asan/
#   scripts/test.sh --plain            the suites that run the programs, built without, in build/
#   scripts/test.sh [--plain] PATTERN  only the suites whose name matches the (grep) pattern
set -eu
cd "$(dirname "$0")/.."

b=build-asan
if [ "${1:-}" = --plain ]; then
  b=build
  shift
fi
pattern=${1:-.}
# Some suites mostly wait: half as many again as there are cores.
jobs=$(($(nproc 2>/dev/null || echo 2) * 3 / 2))
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
# shellcheck source=scripts/group.sh
. scripts/group.sh
export RESULTS="$results"
export PROGRESS=
[ ! -t 1 ] || PROGRESS=yes

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

# name<TAB>command. The longest, which begins first, is the simulator.
suites() {
  printf 'simulator\t%s\n' "test/simulator $b/dl-sim 20261 100 10000"
  for f in test/e2e/*.bats; do
    [ -e "$f" ] || continue
    case $b/${f##*/} in
    # They are the same whichever build is tested.
    build/programs.bats | build/image.bats | build/release.bats | build/hooks.bats) continue ;;
    esac
    printf '%s\t%s\n' "$(basename "$f")" "DLJOB=$PWD/$b/dljob bats --tap $f"
  done
  for t in "$b"/test/*_test; do
    [ -x "$t" ] || continue
    printf '%s\t%s\n' "$(basename "$t")" "$t"
  done
  [ $b = build-asan ] || return 0
  printf 'tidy\ttest/tidy\n'
  printf 'tidy_test\ttest/tidy_test\n'
  printf 'lanes_test\ttest/lanes_test\n'
}

# longest_first: by what each took the last time, so that the cores end together; who is new comes first.
longest_first() {
  awk -F '\t' 'FILENAME != "-" { took[$1] = $2; next } { print ($1 in took ? took[$1] : 1e6 - FNR) "\t" $0 }' \
    "$1" - | sort -t "$(printf '\t')" -k 1,1nr | cut -f 2-
}

case $b in
build) build build ;;
*)
  build build-asan -Db_sanitize=address,undefined -Db_lundef=false
  # An image is of a build without sanitizers.
  TARGETS="dl-operator dljob" build build
  ;;
esac

times=$b/suite-times
[ -e $times ] || : >$times
suites | grep -e "$pattern" | longest_first $times >"$results/suites"
[ -s "$results/suites" ] || { echo "test: no suite matches $pattern" >&2; exit 2; }
want=$(wc -l <"$results/suites")
export SUITES="$want"
# Each suite writes its counts into a file of its own; a suite that dies leaves none.
in_group xargs -d '\n' -n 1 -P "$jobs" -a "$results/suites" scripts/suite.sh || true
[ -z "$PROGRESS" ] || printf '\r\033[K'
cat "$results"/*.took $times 2>/dev/null | awk -F '\t' '!seen[$1]++' >"$results/times"
cp "$results/times" $times

cat "$results"/*.counts 2>/dev/null | awk -v want="$want" '
  { passed += $1; failed += $2; skipped += $3; n++ }
  END {
    if (n != want) { print want - n " suites did not run to their end"; failed += want - n }
    if (skipped) print skipped " skipped"
    print passed + 0 " passed, " failed + 0 " failed"
    exit (failed > 0)
  }'
