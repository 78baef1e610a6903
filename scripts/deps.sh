#!/bin/sh
# Installs what the build and the tests need, once, and says what.
#
#   scripts/deps.sh           what the build and `make test` need
#   scripts/deps.sh --lint    the linters and the coverage tool as well
#   scripts/deps.sh --release what makes and tries Debian packages and wheels as well
#
# Everything comes from Debian's packages. On Debian 12 yyjson is not packaged: the two small
# packages of the next release are unpacked into build/deps with an apt configuration of our own,
# so that nothing on the machine changes.
set -eu
cd "$(dirname "$0")/.."

packages="gcc libc6-dev make meson ninja-build pkg-config libyaml-dev liblua5.4-dev libuv1-dev
  libcurl4-openssl-dev libgnutls28-dev libmicrohttpd-dev libsqlite3-dev libcmocka-dev openssl curl bats jq
  python3-yaml binutils ca-certificates"
case ${1:-} in
--lint) packages="$packages clang clang-tidy clang-format llvm libclang-rt-14-dev cppcheck gcovr shellcheck" ;;
--release) packages="$packages debhelper dpkg-dev fakeroot mmdebstrap patchelf python3-venv" ;;
esac

missing=
for p in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $p"
done
if [ -n "$missing" ]; then
  sudo=
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    command -v sudo >/dev/null 2>&1 || { echo "deps: as root, please: apt-get install$missing" >&2; exit 1; }
  fi
  echo "deps: installing$missing" >&2
  $sudo apt-get update -qq || echo "deps: apt-get update failed; trying with the lists that are there" >&2
  log=$(mktemp)
  # shellcheck disable=SC2086 # a list of package names
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing \
    >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; exit 1; }
  rm -f "$log"
fi

# yyjson: the system's, where the release has it.
if pkg-config --exists 'yyjson >= 0.10' 2>/dev/null; then
  exit 0
fi
dest=$PWD/build/deps
have=
if [ -f "$dest/include/yyjson.h" ] && [ -f "$dest/lib/libyyjson.so" ]; then
  have=yes
  [ ! -s "$dest/lib/libyyjson0.control" ] || exit 0
fi
echo "deps: unpacking libyyjson-dev (Debian 13) into build/deps" >&2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/etc" "$tmp/debs" "$tmp/root"

mirror=$(scripts/debian-mirror.sh)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [signed-by=$keyring] $mirror trixie main" >"$tmp/etc/sources.list"
cat >"$tmp/etc/apt.conf" <<CONF
Dir::Etc::SourceList "$tmp/etc/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$tmp/lists";
Dir::Cache "$tmp/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
CONF
if ! (
  export APT_CONFIG="$tmp/etc/apt.conf"
  apt-get update -qq && cd "$tmp/debs" && apt-get download -qq libyyjson0 libyyjson-dev >/dev/null
); then
  [ -n "$have" ] || exit 1
  echo "deps: build/deps is older than this script; only 'make image' needs what could not be fetched" >&2
  exit 0
fi
for d in "$tmp"/debs/*.deb; do
  dpkg-deb -x "$d" "$tmp/root"
done
mkdir -p "$dest/include" "$dest/lib"
cp "$tmp"/root/usr/include/yyjson.h "$dest/include/"
cp -P "$tmp"/root/usr/lib/*/libyyjson* "$dest/lib/"
# What it is, for the image's scanners.
dpkg-deb -f "$tmp"/debs/libyyjson0_*.deb Package Maintainer Architecture Source Version >"$tmp/control"
mv "$tmp/control" "$dest/lib/libyyjson0.control"
