#!/bin/sh
# Branch coverage of the folders that decide. Branches of assertions do not count: they are there to
# be never taken.
set -eu
cd "$(dirname "$0")/.."
least=${COVERAGE_LEAST:-95}

scripts/build.sh build-coverage -Db_coverage=true -Dbuildtype=debug
find build-coverage -name '*.gcda' -delete
for t in build-coverage/test/*_test; do
  "$t" >build-coverage/test.log 2>&1 || { cat build-coverage/test.log; echo "coverage: $t failed" >&2; exit 1; }
done
build-coverage/dl-sim --seeds 10 --steps 10000 >build-coverage/test.log 2>&1 ||
  { tail -n 40 build-coverage/test.log; echo "coverage: dl-sim failed" >&2; exit 1; }

rc=0
gcovr --root . --object-directory build-coverage --filter 'src/(plan|job)/' --branches \
  --exclude '.*(_test|/testing)\.[ch]$' --exclude-branches-by-pattern '.*\b(ASSERT|BUG)\(.*' \
  --print-summary --fail-under-branch "$least" || rc=$?
[ $rc = 0 ] || { echo "coverage: under $least % of the branches" >&2; exit 1; }
