#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# scripts/deps.sh on machines that are not Debian: a copy of it, on a PATH where nothing is but what a test puts there.
load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir bin scripts
  cp "$root/scripts/deps.sh" "$root/scripts/debian-mirror.sh" scripts/
  for p in cat dirname; do ln -s "$(command -v $p)" bin/; done
}

program() { # program NAME: a script of that name on the PATH, from standard input
  { echo '#!/bin/sh'; cat; } >"bin/$1"
  chmod +x "bin/$1"
}

# everything: all that the build needs, by the names that Fedora's pkg-config knows; `lacks` names what is not there.
everything() {
  for p in gcc make meson ninja openssl curl bats jq readelf python3; do echo 'exit 0' | program $p; done
  touch lacks
  program pkg-config <<SH
shift
for module; do
  while read -r name; do
    [ "\$name" != "\$module" ] || exit 1
  done <"$PWD/lacks"
  case "\$module" in
  yaml-0.1 | 'lua >= 5.4' | 'lua < 5.5' | libuv | 'libcurl >= 7.87' | gnutls | libmicrohttpd | sqlite3 | cmocka) ;;
  'yyjson >= 0.10') ;;
  *) exit 1 ;;
  esac
done
SH
}

deps_sh() { split env PATH="$PWD/bin" scripts/deps.sh "$@"; }

@test "without apt-get: all that is missing, by the names of several distributions" {
  deps_sh
  is "$status" 1
  is "$out" ""
  is "$err" "deps: this system has no apt-get. Please install what is missing; its names are
  in Debian:   gcc make meson ninja-build pkg-config libyaml-dev liblua5.4-dev libuv1-dev libcurl4-openssl-dev \
libgnutls28-dev libmicrohttpd-dev libsqlite3-dev libcmocka-dev libyyjson-dev openssl curl bats jq python3-yaml binutils
  in Fedora:   gcc make meson ninja-build pkgconf-pkg-config libyaml-devel lua-devel libuv-devel libcurl-devel \
gnutls-devel libmicrohttpd-devel sqlite-devel libcmocka-devel yyjson-devel openssl curl bats jq python3-pyyaml binutils
  in Arch:     gcc make meson ninja pkgconf libyaml lua54 libuv curl gnutls libmicrohttpd sqlite cmocka yyjson openssl \
bash-bats jq python-yaml binutils
  in openSUSE: gcc make meson ninja pkgconf-pkg-config libyaml-devel lua54-devel libuv-devel libcurl-devel \
libgnutls-devel libmicrohttpd-devel sqlite3-devel libcmocka-devel yyjson-devel openssl curl bats jq python3-PyYAML \
binutils
yyjson must be 0.10 or later; where the package is older, as in Ubuntu 24.04:
  git clone --branch 0.10.0 https://github.com/ibireme/yyjson build/yyjson
  scripts/deps.sh --yyjson build/yyjson"
}

@test "without apt-get: what is there is enough, or only what is not is named" {
  everything
  deps_sh
  is "$status" 0
  is "$out$err" ""
  printf 'libuv\n' >lacks
  rm bin/jq
  deps_sh
  is "$status" 1
  is "$err" "deps: this system has no apt-get. Please install what is missing; its names are
  in Debian:   libuv1-dev jq
  in Fedora:   libuv-devel jq
  in Arch:     libuv jq
  in openSUSE: libuv-devel jq"
  # The linters come on top; and a yyjson in build/deps is as good as the system's.
  printf 'yyjson >= 0.10\n' >lacks
  echo 'exit 0' | program jq
  mkdir -p build/deps/include build/deps/lib
  touch build/deps/include/yyjson.h build/deps/lib/libyyjson.so
  deps_sh
  is "$status" 0
  deps_sh --lint
  is "$status" 1
  has "$err" "in Fedora:   clang clang-tools-extra llvm cppcheck gcovr ShellCheck"
  deps_sh --release
  is "$status" 1
  is "$err" "deps: packages are made on Debian"
}

@test "with apt-get, but neither a new yyjson nor a Debian mirror: that one is named" {
  everything
  echo 'echo installed' | program dpkg-query
  echo 'exit 1' | program apt-get
  deps_sh
  is "$status" 0
  printf 'yyjson >= 0.10\n' >lacks
  # This machine may have a mirror; without sed it is not found.
  deps_sh
  is "$status" 1
  is "$err" "deps: this system has no yyjson 0.10, nor a Debian mirror to fetch one from. Please install what is \
missing; its names are
  in Debian:   libyyjson-dev
  in Fedora:   yyjson-devel
  in Arch:     yyjson
  in openSUSE: yyjson-devel
yyjson must be 0.10 or later; where the package is older, as in Ubuntu 24.04:
  git clone --branch 0.10.0 https://github.com/ibireme/yyjson build/yyjson
  scripts/deps.sh --yyjson build/yyjson"
}

@test "a yyjson of one's own: built from its sources, and enough from then on" {
  mkdir -p own/src
  echo 'int yyjson_of_ours(void);' >own/src/yyjson.h
  printf '#include "yyjson.h"\nint yyjson_of_ours(void) { return 10; }\n' >own/src/yyjson.c
  split scripts/deps.sh --yyjson nowhere
  is "$status" 2
  is "$err" "deps: there is no $PWD/nowhere/src/yyjson.c"
  split sh -c 'cd own && ../scripts/deps.sh --yyjson .'
  is "$status" 0
  is "$out$err" ""
  printf '#include <yyjson.h>\nint main(void) { return yyjson_of_ours(); }\n' >main.c
  cc -Ibuild/deps/include main.c -o main -Lbuild/deps/lib -Wl,-rpath,"$PWD/build/deps/lib" -lyyjson
  split ./main
  is "$status" 10
  everything
  printf 'yyjson >= 0.10\n' >lacks
  deps_sh
  is "$status" 0
  is "$out$err" ""
}
