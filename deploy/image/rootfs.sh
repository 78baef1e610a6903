#!/bin/sh
# Builds the two programs and puts all that the image holds below a folder; deploy/image/archive.sh makes an archive of
# it, deploy/image/Dockerfile copies it:
#
#   deploy/image/rootfs.sh FOLDER
#
# BUILD: a build folder to take the programs from, instead of a release build of its own (for tests).
# What goes in, and nothing else:
#
#   usr/bin                                 dl-operator and dljob
#   usr/lib/TRIPLET, the ELF interpreter    the libraries that ldd names for either of them
#   usr/share/dl-operator/kinds             the kinds, to read and to start one's own from
#   etc/ssl/certs/ca-certificates.crt       the public authorities, none that was added to this machine
#   etc/passwd, etc/group                   user and group 65532
#   etc/nsswitch.conf                       names come from /etc/hosts, then from DNS
#   tmp                                     empty
#   etc/os-release, var/lib/dpkg/status.d   which packages the libraries are of, for scanners that look for defects
#   usr/share/doc                           their licenses
set -eu
umask 022
LC_ALL=C
export LC_ALL
[ $# = 1 ] || { echo "usage: deploy/image/rootfs.sh FOLDER" >&2; exit 2; }
case $1 in
/*) dest=$1 ;;
*) dest=$PWD/$1 ;;
esac
cd "$(dirname "$0")/../.."
build=${BUILD:-}
if [ -z "$build" ]; then
  build=./build-image
  TARGETS="dl-operator dljob" scripts/build.sh "$build" --buildtype=release
fi

mkdir -p "$(dirname "$dest")"
root=$(mktemp -d "$dest.XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM HUP
chmod 755 "$root"

# put FILE [MODE]: standard input becomes FILE.
put() {
  mkdir -p "$root/$(dirname "$1")"
  cat >"$root/$1"
  chmod "${2:-644}" "$root/$1"
}

# libraries: what the programs load, as ldd names it, the ELF interpreter too. yyjson may be the one of build/deps.
libraries() {
  all=$(ldd "$build/dl-operator" && ldd "$build/dljob") || return 1
  ! echo "$all" | grep 'not found' >&2 || return 1
  echo "$all" | sed -n -e 's|^.* => \(/.*\) (0x.*|\1|p' -e 's|^[[:space:]]*\(/.*\) (0x.*|\1|p' | sort -u
}

# packages FILE…: which ones they are of. A package may know a file by its name before /lib became a link.
packages() {
  for file; do
    real=$(realpath "$file")
    printf '%s\n' "$file" "/usr$file" "$real" "${real#/usr}"
  done | sort -u | xargs dpkg-query -S 2>/dev/null | sed 's/:.*//' | sort -u
}

# noted PACKAGE: its version and its copyright.
noted() {
  dpkg-query -s "$1" | grep -E '^(Package|Status|Maintainer|Architecture|Source|Version):' |
    put "var/lib/dpkg/status.d/$1"
  copyright "$1" <"/usr/share/doc/$1/copyright"
}

copyright() {
  gzip -n | put "usr/share/doc/$1/copyright.gz"
}

for program in dl-operator dljob; do
  strip -o "$root/$program" "$build/$program"
  put usr/bin/$program 755 <"$root/$program"
  rm "$root/$program"
done

triplet=$(gcc -print-multiarch)
loaded=$(libraries) || exit 1
set --
for file in $loaded; do
  case $file in
  /lib*/ld-linux*) put "${file#/}" 755 <"$file" ;;
  *) put "usr/lib/$triplet/${file##*/}" <"$file" ;;
  esac
  case $file in
  # The license stands at the head of its header.
  */build/deps/lib/libyyjson.*)
    sed '/\*\//q' build/deps/include/yyjson.h | copyright libyyjson0
    # It is not installed on this machine; in the image it is.
    sed '/^Package:/a Status: install ok installed' build/deps/lib/libyyjson0.control |
      put var/lib/dpkg/status.d/libyyjson0
    ;;
  *) set -- "$@" "$file" ;;
  esac
done
[ $# -gt 0 ] || { echo "rootfs: ldd names no libraries" >&2; exit 1; }
for name in $(packages "$@") ca-certificates; do
  noted "$name"
done

for kind in kinds/*.lua kinds/lib/*.lua; do
  put "usr/share/dl-operator/$kind" <"$kind"
done
copyright dl-operator <LICENSE
cat /usr/share/ca-certificates/mozilla/*.crt | put etc/ssl/certs/ca-certificates.crt
put etc/os-release </etc/os-release
echo "dl-operator:x:65532:65532::/tmp:/nonexistent" | put etc/passwd
echo "dl-operator:x:65532:" | put etc/group
echo "hosts: files dns" | put etc/nsswitch.conf
mkdir -m 1777 "$root/tmp"

rm -rf "$dest"
mv "$root" "$dest"
