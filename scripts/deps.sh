#!/bin/sh
# Installs what the build and the tests need, once, and says what.
#
#   scripts/deps.sh           what the build and `make test` need
#   scripts/deps.sh --lint    the linters and the coverage tool as well
#   scripts/deps.sh --release what makes and tries Debian packages and wheels as well
#   scripts/deps.sh --yyjson DIR
#                             builds yyjson from its sources in DIR, for this checkout alone
#
# Everything comes from Debian's packages. On Debian 12 yyjson is not packaged: the two small
# packages of the next release are unpacked into build/deps with an apt configuration of our own,
# so that nothing on the machine changes. On other systems nothing is installed: if something is
# missing, the names that distributions have for it are printed, and the exit status is 1.
set -eu
# A folder that is named on the command line is where the caller sees it.
case ${1:-}:${2:-} in --yyjson:[!/]*) set -- "$1" "$PWD/$2" ;; esac
cd "$(dirname "$0")/.."

# What it is and how it is recognised; its package in Debian, Fedora, Arch and openSUSE.
needs="
program gcc             gcc                  gcc                 gcc           gcc
program make            make                 make                make          make
program meson           meson                meson               meson         meson
program ninja           ninja-build          ninja-build         ninja         ninja
program pkg-config      pkg-config           pkgconf-pkg-config  pkgconf       pkgconf-pkg-config
library yaml-0.1        libyaml-dev          libyaml-devel       libyaml       libyaml-devel
library lua             liblua5.4-dev        lua-devel           lua54         lua54-devel
library libuv           libuv1-dev           libuv-devel         libuv         libuv-devel
library libcurl:7.87    libcurl4-openssl-dev libcurl-devel       curl          libcurl-devel
library gnutls          libgnutls28-dev      gnutls-devel        gnutls        libgnutls-devel
library libmicrohttpd   libmicrohttpd-dev    libmicrohttpd-devel libmicrohttpd libmicrohttpd-devel
library sqlite3         libsqlite3-dev       sqlite-devel        sqlite        sqlite3-devel
library cmocka          libcmocka-dev        libcmocka-devel     cmocka        libcmocka-devel
library yyjson:0.10     libyyjson-dev        yyjson-devel        yyjson        yyjson-devel
program openssl         openssl              openssl             openssl       openssl
program curl            curl                 curl                curl          curl
program bats            bats                 bats                bash-bats     bats
program jq              jq                   jq                  jq            jq
module  yaml            python3-yaml         python3-pyyaml      python-yaml   python3-PyYAML
program readelf         binutils             binutils            binutils      binutils
"
lint="
program clang           clang                clang               clang         clang
program clang-tidy      clang-tidy           clang-tools-extra   clang         clang-tools
program clang-format    clang-format         clang-tools-extra   clang         clang
program llvm-cov        llvm                 llvm                llvm          llvm
program cppcheck        cppcheck             cppcheck            cppcheck      cppcheck
program gcovr           gcovr                gcovr               gcovr         python3-gcovr
program shellcheck      shellcheck           ShellCheck          shellcheck    ShellCheck
"
packages="libc6-dev ca-certificates"
case ${1:-} in
--lint) needs=$needs$lint packages="$packages libclang-rt-14-dev" ;;
--release) packages="$packages debhelper dpkg-dev fakeroot mmdebstrap patchelf python3-venv" ;;
esac

# has_library NAME[:VERSION]: of that version at least. yyjson may lie in build/deps, and Lua is called in many ways.
has_library() {
  case $1 in
  yyjson*) [ ! -f build/deps/include/yyjson.h ] || [ ! -e build/deps/lib/libyyjson.so ] || return 0 ;;
  lua)
    for l in lua5.4 lua-5.4 lua54; do
      ! pkg-config --exists "$l" 2>/dev/null || return 0
    done
    pkg-config --exists 'lua >= 5.4' 'lua < 5.5' 2>/dev/null
    return
    ;;
  esac
  case $1 in
  *:*) pkg-config --exists "${1%:*} >= ${1#*:}" 2>/dev/null ;;
  *) pkg-config --exists "$1" 2>/dev/null ;;
  esac
}

has() { # has SORT NAME
  case $1 in
  program) command -v "$2" >/dev/null 2>&1 ;;
  library) has_library "$2" ;;
  module) python3 -c "import $2" 2>/dev/null ;;
  esac
}

# elsewhere: what to do on a system that is not Debian or like it.
elsewhere() {
  debian='' fedora='' arch='' opensuse=''
  while read -r sort name d f a o; do
    if [ -z "$sort" ] || has "$sort" "$name"; then continue; fi
    # One package may have several of them.
    case " $debian " in *" $d "*) ;; *) debian="$debian $d" ;; esac
    case " $fedora " in *" $f "*) ;; *) fedora="$fedora $f" ;; esac
    case " $arch " in *" $a "*) ;; *) arch="$arch $a" ;; esac
    case " $opensuse " in *" $o "*) ;; *) opensuse="$opensuse $o" ;; esac
  done <<NEEDS
$needs
NEEDS
  [ -n "$debian" ] || return 0
  cat >&2 <<TEXT
deps: $1. Please install what is missing; its names are
  in Debian:  $debian
  in Fedora:  $fedora
  in Arch:    $arch
  in openSUSE:$opensuse
TEXT
  case "$debian " in
  *" libyyjson-dev "*)
    cat >&2 <<'TEXT'
yyjson must be 0.10 or later; where the package is older, as in Ubuntu 24.04:
  git clone --branch 0.10.0 https://github.com/ibireme/yyjson build/yyjson
  scripts/deps.sh --yyjson build/yyjson
TEXT
    ;;
  esac
  return 1
}

# Found by the build where the system has none that is new enough.
if [ "${1:-}" = --yyjson ]; then
  src=${2:?deps: --yyjson wants the folder with the sources}/src
  [ -f "$src/yyjson.c" ] || { echo "deps: there is no $src/yyjson.c" >&2; exit 2; }
  mkdir -p build/deps/include build/deps/lib
  cc -O2 -fPIC -shared -Wl,-soname,libyyjson.so.0 -o build/deps/lib/libyyjson.so.0 "$src/yyjson.c" -lm
  ln -sf libyyjson.so.0 build/deps/lib/libyyjson.so
  cp "$src/yyjson.h" build/deps/include/
  rm -f build/deps/lib/libyyjson0.control
  exit
fi

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
  [ "${1:-}" != --release ] || { echo "deps: packages are made on Debian" >&2; exit 1; }
  elsewhere "this system has no apt-get"
  exit
fi

while read -r sort name debian _; do
  case $debian in '' | libyyjson-dev) ;; *) packages="$packages $debian" ;; esac
done <<NEEDS
$needs
NEEDS

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
mirror=$(scripts/debian-mirror.sh 2>/dev/null) || {
  [ -z "$have" ] || exit 0
  elsewhere "this system has no yyjson 0.10, nor a Debian mirror to fetch one from"
  exit
}
echo "deps: unpacking libyyjson-dev (Debian 13) into build/deps" >&2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/lists/partial" "$tmp/cache/archives/partial" "$tmp/etc" "$tmp/debs" "$tmp/root"

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
