#!/bin/sh
# Builds the fuzzers and runs them one after the other; the first find ends it.
#
#   scripts/fuzz.sh [NAME…]       all, or only those: store api
#
# FUZZ_SECONDS is how long each of them runs (60). What they find, and what makes them reach more, lies in
# build-fuzz/found.
set -eu
cd "$(dirname "$0")/.."
: "${FUZZ_SECONDS:=60}"

case $FUZZ_SECONDS in
'' | *[!0-9]* | 0*) echo "fuzz: FUZZ_SECONDS must be a number, found \"$FUZZ_SECONDS\"" >&2; exit 2 ;;
esac
all=
for f in test/fuzz/*_fuzz.c; do
  f=${f##*/}
  all="$all ${f%_fuzz.c}"
done
for f; do
  case "$all " in
  *" $f "*) ;;
  *) echo "fuzz: there is no fuzzer \"$f\"; there are:$all" >&2; exit 2 ;;
  esac
done
# shellcheck disable=SC2086 # a list of names
[ $# -gt 0 ] || set -- $all

[ -f build-fuzz/build.ninja ] ||
  CC=clang meson setup build-fuzz -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
programs=
for f; do programs="$programs test/fuzz/${f}_fuzz"; done
# shellcheck disable=SC2086 # a list of files
ninja -C build-fuzz --quiet $programs
for f; do
  mkdir -p "build-fuzz/found/$f"
  corpus=test/fuzz/corpus/$f
  # They start from whole objects.
  case $f in store | api) corpus="$corpus test/fuzz/corpus/object" ;; esac
  # shellcheck disable=SC2086 # a list of folders
  "build-fuzz/test/fuzz/${f}_fuzz" -max_total_time="$FUZZ_SECONDS" -max_len=4096 -timeout=10 \
    -artifact_prefix=build-fuzz/found/ "build-fuzz/found/$f" $corpus
done
