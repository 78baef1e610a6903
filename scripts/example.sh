#!/bin/sh
# Trains a small model with a real framework, over several replicas on this machine.
#
#   scripts/example.sh NAME [OPTION of dljob run …]      NAME: mxnet, tensorflow, paddle, pytorch
#   scripts/example.sh --install NAME                    only installs; prints the variables that it needs
#
# The framework goes into a folder of its own below $DL_OPERATOR_CACHE (default: ~/.cache/dl-operator), whole or
# not at all, and is found there the next time. Where it cannot be had the exit status is 77: skipped. With
# DL_REQUIRE=1 that is a failure.
set -eu
mxnet=1.9.1
tensorflow=2.21.0
paddle=3.3.1

root=$(cd "$(dirname "$0")/.." && pwd)
frameworks=${DL_OPERATOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dl-operator}/frameworks

say() { echo "example: $*" >&2; }

usage() {
  echo "usage: scripts/example.sh [--install] mxnet|tensorflow|paddle|pytorch [OPTION of dljob run …]" >&2
  exit 2
}

skip() {
  [ ! -s "$log" ] || tail -n 3 "$log" >&2
  if [ "${DL_REQUIRE:-}" = 1 ]; then
    say "failed: $name cannot be had: $*"
    exit 1
  fi
  say "skipped: $name cannot be had: $*"
  exit 77
}

# as_root COMMAND…: quietly.
as_root() {
  sudo=
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    command -v sudo >/dev/null 2>&1 || skip "as root, please: $*"
  fi
  $sudo "$@" >>"$log" 2>&1
}

# packages REQUIREMENT…: of Python's package index, into $part.
packages() {
  python3 -m pip --version >/dev/null 2>&1 || {
    say "installing python3-pip"
    as_root apt-get update -qq || true
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-pip ||
      skip "no pip"
  }
  timeout 900 python3 -m pip install --quiet --no-cache-dir --no-input --disable-pip-version-check \
    --root-user-action=ignore --only-binary=:all: --timeout 30 --target "$part" "$@" >>"$log" 2>&1 ||
    skip "pip install $*"
}

# debian PACKAGE: with all that it needs and the machine has not, unpacked into $part and not installed.
debian() {
  as_root apt-get update -qq || true
  needs=$(apt-get install --print-uris -qq -y --no-install-recommends "$1" 2>>"$log" |
    sed -n "s/^'[^']*' \([^_]*\)_.*/\1/p") || skip "apt-get has no $1"
  [ -n "$needs" ] || skip "apt-get has no $1"
  mkdir -p "$part/debs"
  # shellcheck disable=SC2086 # names
  (cd "$part/debs" && timeout 900 apt-get download -qq -o APT::Sandbox::User=root $needs) >>"$log" 2>&1 ||
    skip "apt-get download"
  for deb in "$part"/debs/*.deb; do
    dpkg-deb -x "$deb" "$part" || skip "no room?"
  done
  rm -r "$part/debs"
}

# install COMMAND…: which fills $part, unless $dir is there.
install() {
  [ ! -d "$dir" ] || return 0
  mkdir -p "$frameworks"
  exec 9>"$frameworks/lock"
  flock 9
  if [ ! -d "$dir" ]; then
    part=$dir.part
    rm -rf "$part"
    say "installing $name into $dir (once; minutes)"
    "$@"
    mv "$part" "$dir"
    part=
  fi
  exec 9>&-
}

# variables: what a process needs to find the framework, a line each.
variables() {
  if [ "$name" = pytorch ]; then
    lib=$dir/usr/lib/$(uname -m)-linux-gnu
    echo "PYTHONPATH=$dir/usr/lib/python3/dist-packages"
    echo "LD_LIBRARY_PATH=$lib:$lib/blas:$lib/lapack:$dir/usr/lib:$dir/lib/$(uname -m)-linux-gnu"
    # Debian's modules are for Debian's Python.
    echo "PATH=/usr/bin:/bin"
  else
    echo "PYTHONPATH=$dir"
  fi
}

only=
[ "${1:-}" != --install ] || { only=yes; shift; }
[ $# -ge 1 ] || usage
name=$1
shift
log=$(mktemp)
part=
trap 'rm -rf "$log" ${part:+"$part"}' EXIT
trap 'exit 130' INT TERM
command -v python3 >/dev/null 2>&1 || skip "no python3"
tag=py$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
# MXNet 1.9 was made for a numpy of its time.
case $name in
mxnet) dir=$frameworks/mxnet-$mxnet-$tag && install packages mxnet==$mxnet 'numpy<1.24' ;;
tensorflow) dir=$frameworks/tensorflow-$tensorflow-$tag && install packages tensorflow-cpu==$tensorflow ;;
paddle) dir=$frameworks/paddle-$paddle-$tag && install packages paddlepaddle==$paddle ;;
pytorch) dir=$frameworks/pytorch-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release) && install debian python3-torch ;;
*) usage ;;
esac

[ -z "$only" ] || { variables; exit 0; }
IFS='
'
for variable in $(variables); do
  set -- --env "$variable" "$@"
done
cd "$root"
"${DLJOB:-build/dljob}" run "$@" "examples/frameworks/$name.yaml"
