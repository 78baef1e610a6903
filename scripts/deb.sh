#!/bin/sh
# Builds the Debian packages dljob and dl-operator from the files that git knows, as they are now:
#
#   scripts/deb.sh [FOLDER]       FOLDER: build/deb
#
# It happens in a copy, so that nothing is left in this tree or beside it, and without the network where the kernel
# lets us cut it off: what debian/rules needs has been fetched before.
set -eu
umask 022
cd "$(dirname "$0")/.."
dest=${1:-build/deb}
scripts/deps.sh --release
mkdir -p "$dest"
dest=$(realpath "$dest")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

src=$tmp/dl-operator
mkdir -p "$src/build"
git ls-files -z | tar --null -T - -cf - | tar -C "$src" -xf -
[ ! -e build/deps ] || cp -a build/deps "$src/build/"

offline=
for try in 'unshare --net' 'unshare --user --map-current-user --net'; do
  $try true 2>/dev/null || continue
  offline=$try
  break
done
[ -n "$offline" ] || echo "deb: the network cannot be cut off here" >&2
(
  cd "$src"
  export DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}"
  $offline dpkg-buildpackage -b -us -uc >"$tmp/log" 2>&1
) || {
  tail -n 60 "$tmp/log" >&2
  exit 1
}
rm -f "$dest"/*.deb
mv "$tmp"/*.deb "$dest/"
stat -c '%n %s' "$dest"/*.deb | awk '{ sub(/.*\//, "", $1); printf "%s: %.0f kB\n", $1, $2 / 1e3 }'
