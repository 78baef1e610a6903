#!/usr/bin/env bash
# Runs one suite for scripts/test.sh: scripts/suite.sh "NAME<TAB>COMMAND". The command speaks TAP. A
# missing or short plan, or an exit status that TAP does not explain, is one more failure.
set -eu
# shellcheck source=scripts/group.sh
. "$(dirname "$0")/group.sh"
name=${1%%	*}
command=${1#*	}
limit=${SUITE_SECONDS:-480}
id=$(printf '%s' "$name" | tr -c 'a-zA-Z0-9' '_')
out=$RESULTS/$id.out

export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=0:exitcode=99:allocator_may_return_null=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}"

start=$(date +%s)
rc=0
# What it says beside must not fall into a line of TAP.
in_group timeout -k 5 "$limit" sh -c "$command" >"$out" 2>"$out.err" </dev/null || rc=$?
seconds=$(($(date +%s) - start))
printf '%s\t%s\n' "$name" "$seconds" >"$RESULTS/$id.took"

counts=$(awk -v rc="$rc" -v limit="$limit" '
  /^[0-9]+\.\.[0-9]+/ { split($1, p, /\.\./); if (p[2] >= p[1]) plan += p[2] - p[1] + 1; planned = 1 }
  /^(not )?ok/ { seen++; if (tolower($0) ~ /# *skip/) skipped++; else if (/^ok/) passed++; else failed++ }
  END {
    why = ""
    if (rc == 124 || rc == 137) why = "stopped after " limit " s"
    else if (!planned) why = "no plan, exit status " rc
    else if (seen != plan) why = seen + 0 " of " plan " tests ran, exit status " rc
    else if (rc != 0 && !failed) why = "exit status " rc
    if (why != "") failed++
    print passed + 0, failed + 0, skipped + 0, why
  }' "$out")
# shellcheck disable=SC2086 # three numbers, then words
set -- $counts
passed=$1 failed=$2 skipped=$3
shift 3
echo "$passed $failed $skipped" >"$RESULTS/$id.counts"

{
  text="$passed passed"
  [ "$failed" = 0 ] || text="$text, $failed failed"
  printf '%-32s %18s %4ds%s\n' "$name" "$text" "$seconds" "${*:+  ($*)}"
  sed -n 's/^# note: /    /p' "$out"
  if [ "$failed" != 0 ]; then
    echo "---- $name: $command"
    cat "$out" "$out.err"
    echo "----"
  fi
} >"$out.report"

# How far all is, in a line that the next report takes the place of.
progress() {
  cat "$RESULTS"/*.counts | awk -v want="$SUITES" '
    { passed += $1; failed += $2; n++ }
    END { printf "%d of %d suites, %d passed, %d failed", n, want, passed, failed }'
}

# One at a time, so that no line falls into another.
{
  flock 9
  [ -z "${PROGRESS:-}" ] || printf '\r\033[K'
  cat "$out.report"
  [ -z "${PROGRESS:-}" ] || progress
} 9>"$RESULTS/lock"
