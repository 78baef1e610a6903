#!/bin/sh
# Makes all files of a release from what is committed, and tags it. Nothing is sent anywhere.
#
#   scripts/release.sh                                       a release
#   scripts/release.sh --dry-run [--out FOLDER] [PART…]      the same files, or only those parts, and no tag
#
# The parts, which come into build/release/VERSION:
#
#   source    the sources, a tar of the commit
#   sbom      what both programs load, as SPDX
#   image     the container image
#   chart     the helm chart
#   deb       the Debian packages
#   wheel     dljob for pip
#
# and SHA256SUMS and NOTES.md (this version's part of the changelog) for any of them. The same commit gives the same
# files on the same Debian. A dry run only reports what would stop a release.
# BUILD: a build folder to take the programs of sbom and wheel from, instead of the image's (for tests).
set -eu
umask 022
LC_ALL=C
export LC_ALL
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
here=$PWD
cd "$(dirname "$0")/.."

say() { echo "release: $*" >&2; }

usage() {
  sed -n 's/^#   //p' "$0" >&2
  exit 2
}

version=$(scripts/version.sh)
out=build/release/$version
dry=
parts=
while [ $# -gt 0 ]; do
  case $1 in
  --dry-run) dry=yes ;;
  --out)
    [ $# -gt 1 ] || usage
    out=$(cd "$here" && realpath -m "$2")
    shift
    ;;
  source | sbom | image | chart | deb | wheel) parts="$parts $1" ;;
  *) usage ;;
  esac
  shift
done
[ -n "$dry" ] || [ -z "$parts" ] || { say "a release has all parts; some of them: --dry-run"; exit 2; }
[ -n "$parts" ] || parts="source sbom image chart deb wheel"

# stops WHY: ends a release before anything is made.
stops() {
  [ -n "$dry" ] || { say "$1"; exit 1; }
  say "(a release would stop here: $1)"
}

# notes: what the changelog says of this version, without its heading.
notes() {
  awk -v version="$version" '/^## / { on = $2 == version; next } on' CHANGELOG.md | sed '/./,$!d'
}

scripts/version.sh --check
notes | grep -q '^[^#]' || { say "CHANGELOG.md says nothing about $version"; exit 1; }
grep -Eq "^## $version \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\$" CHANGELOG.md ||
  stops "CHANGELOG.md has no date for $version: ## $version (YYYY-MM-DD)"
! head -n 1 debian/changelog | grep -q UNRELEASED || stops "debian/changelog says UNRELEASED"
[ -z "$(git status --porcelain)" ] || stops "there are changes that are not committed"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || stops "there is a tag v$version already"

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
mkdir -p "$out"
out=$(realpath "$out")
find "$out" -mindepth 1 -maxdepth 1 -type f -delete
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

# programs: sets $build to a folder that has them.
programs() {
  build=${BUILD:-build-image}
  [ -z "${BUILD:-}" ] || return 0
  scripts/deps.sh
  TARGETS="dl-operator dljob" scripts/build.sh ./build-image --buildtype=release
}

make_source() {
  git archive --format=tar --prefix="dl-operator-$version/" HEAD >"$tmp/source.tar"
  gzip -n -9 <"$tmp/source.tar" >"$out/dl-operator-$version.tar.gz"
}

make_sbom() {
  programs
  scripts/sbom.py --version "$version" "$build/dl-operator" "$build/dljob" >"$out/dl-operator-$version.spdx.json"
}

make_image() {
  make --no-print-directory image IMAGE=dl-operator TAG="$version" >"$tmp/said"
  cp build/image/dl-operator.tar "$out/dl-operator-image-$version-$(dpkg --print-architecture).tar"
}

# Helm writes the time of the call into the archive; it is packed anew.
make_chart() {
  helm=$(scripts/kube-deps.sh --helm)/helm
  "$helm" package deploy/chart -d "$tmp" >/dev/null
  mkdir "$tmp/chart"
  tar -C "$tmp/chart" -mxzf "$tmp/dl-operator-$version.tgz"
  tar -C "$tmp/chart" --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --mode=u=rwX,go=rX --owner=0 --group=0 \
    --numeric-owner -cf "$tmp/chart.tar" dl-operator
  gzip -n -9 <"$tmp/chart.tar" >"$out/dl-operator-chart-$version.tgz"
}

make_deb() {
  scripts/deb.sh "$out" >/dev/null
}

make_wheel() {
  programs
  command -v patchelf >/dev/null 2>&1 || scripts/deps.sh --release
  scripts/wheel.py --version "$version" --out "$out" "$build/dljob" >/dev/null
}

for part in $parts; do
  begun=$(date +%s)
  "make_$part"
  say "$part [$(($(date +%s) - begun)) s]"
done
notes >"$out/NOTES.md"
(cd "$out" && find . -type f -printf '%P\n' | sort | xargs sha256sum) >"$tmp/sums"
cp "$tmp/sums" "$out/SHA256SUMS"
stat -c '%s %n' "$out"/* | awk '{ sub(/.*\//, "", $2); printf "%9.1f kB  %s\n", $1 / 1e3, $2 }'
if [ -n "$dry" ]; then
  say "dry run: no tag; the files are in $out"
  exit 0
fi
git tag -a "v$version" -m "dl-operator $version"
say "tagged v$version; the files are in $out"
say "next: git push origin v$version, and publish the files with NOTES.md as their text"
