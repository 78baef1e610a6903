#!/bin/sh
# A bare Debian 12 to try packages in, made once: prints the name of a tar of it. What it does stands on standard error.
#
#   tar -C FOLDER -xf "$(scripts/debian-root.sh)"
#
# It is kept outside the checkout, in $DL_OPERATOR_CACHE (default: ~/.cache/dl-operator).
set -eu
cd "$(dirname "$0")/.."
cache=${DL_OPERATOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dl-operator}
file=$cache/debian-12/root.tar
if [ ! -e "$file" ]; then
  [ "$(id -u)" = 0 ] || { echo "debian-root: as root, please" >&2; exit 1; }
  scripts/deps.sh --release
  mkdir -p "${file%/*}"
  exec 9>"${file%/*}/lock"
  flock 9
fi
# Whoever held the lock may have made it.
if [ ! -e "$file" ]; then
  echo "debian-root: making $file (half a minute)" >&2
  # A mirror may not answer for a moment.
  tries=3
  until mmdebstrap --quiet --format=tar --variant=minbase bookworm "$file.new" \
    "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(scripts/debian-mirror.sh) bookworm main" >&2; do
    tries=$((tries - 1))
    [ $tries -gt 0 ] || exit 1
    echo "debian-root: once more" >&2
    sleep 5
  done
  mv "$file.new" "$file"
fi
echo "$file"
