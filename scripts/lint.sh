#!/bin/sh
# What other tools say about the sources. Every finding is an error.
#
#   scripts/lint.sh            all of them
#   scripts/lint.sh clang …    only those named: format clang tidy cppcheck shell
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- format clang tidy cppcheck shell

sources=$(git ls-files 'src/*.c' 'test/*.c')
# Tests are compiled with all warnings; to analyze them as well takes longer than it is worth.
analyzed=$(printf '%s\n' "$sources" | grep -v '_test\.c$\|^test/\|/testing\.c$')
failed=

say() { printf '%-10s %s\n' "$1" "$2"; }

for check; do
  rc=0
  case $check in
  clang)
    CC=clang scripts/build.sh build-clang || rc=1
    ;;
  tidy)
    CC=clang scripts/build.sh build-clang || rc=1
    printf '%s\n' "$analyzed" | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p build-clang 2>/dev/null || rc=1
    ;;
  cppcheck)
    # shellcheck disable=SC2086 # a list of our files
    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance,portability --inline-suppr \
      --suppressions-list=.cppcheck --library=posix -I src -D_GNU_SOURCE -j "$(nproc)" \
      --library=scripts/cppcheck.cfg $analyzed || rc=1
    ;;
  shell)
    # shellcheck disable=SC2046 # a list of our files
    shellcheck -x $(git ls-files 'scripts/*.sh' 'deploy/*.sh' '.ci/run' 'test/tidy' 'test/tidy_test' 'test/simulator' \
      'test/e2e/*.ba[ts]*' 'test/frameworks/*.bats' 'test/cluster/*.ba[ts]*' 'test/cluster/*.sh' \
      test/lanes_test test/cluster/up test/cluster/down test/cluster-soak/run) || rc=1
    ;;
  format)
    # shellcheck disable=SC2046,SC2086
    clang-format --dry-run --Werror $sources $(git ls-files 'src/*.h' 'test/*.h') || rc=1
    ;;
  *)
    echo "lint: no check of the name $check" >&2
    exit 2
    ;;
  esac
  if [ $rc = 0 ]; then
    say "$check" ok
  else
    say "$check" FAILED
    failed="$failed $check"
  fi
done
[ -z "$failed" ] || { echo "lint: failed:$failed" >&2; exit 1; }
