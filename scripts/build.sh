#!/bin/sh
# Sets up (once) and builds a build folder: scripts/build.sh FOLDER [meson options]
set -eu
cd "$(dirname "$0")/.."
dir=$1
shift
if [ ! -f "$dir/build.ninja" ]; then
  meson setup "$dir" "$@" >"/tmp/meson-setup.$$" 2>&1 || { cat "/tmp/meson-setup.$$" >&2; rm -f "/tmp/meson-setup.$$"; exit 1; }
  rm -f "/tmp/meson-setup.$$"
fi
ninja -C "$dir" --quiet
