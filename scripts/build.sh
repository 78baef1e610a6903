#!/bin/sh
# Sets up (once) and builds a build folder, quietly: scripts/build.sh FOLDER [meson options]
# TARGETS: what to build; everything unless set.
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ ! -f "$dir/build.ninja" ]; then
  meson setup "$dir" "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
# shellcheck disable=SC2086 # a list of names
ninja -C "$dir" --quiet ${TARGETS:-} >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
