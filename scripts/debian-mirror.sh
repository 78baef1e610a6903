#!/bin/sh
# Prints the address of the machine's own Debian mirror: the first one that its sources name for Debian itself.
set -eu
mirror=$(sed -n -e 's/^URIs:[[:space:]]*//p' \
  -e 's/^deb[[:space:]]\(\[[^]]*\][[:space:]]*\)\{0,1\}\([^[:space:]]*\)[[:space:]].*/\2/p' \
  /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
  grep '/debian/\{0,1\}$' | head -n 1)
[ -n "$mirror" ] || { echo "debian-mirror: none found in /etc/apt" >&2; exit 1; }
printf '%s\n' "$mirror"
