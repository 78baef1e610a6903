#!/bin/sh
# The version stands in meson.build. What else names it is listed here, and follows.
#
#   scripts/version.sh             prints it
#   scripts/version.sh --check     fails, and says where, if another file names another one
#   scripts/version.sh --set X.Y.Z writes it everywhere, and begins an entry in both changelogs
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.."

# Whether the file must name it | file | basic regular expression, with @ for the version
places() {
  cat <<'TABLE'
must|deploy/chart/Chart.yaml|^version: @$
must|deploy/chart/Chart.yaml|^appVersion: @$
must|deploy/image/Dockerfile|^ARG VERSION=@$
must|deploy/manifests/dl-operator.yaml|^ *app\.kubernetes\.io/version: "@"$
must|deploy/manifests/dl-operator.yaml|^ *image: "dl-operator:@"$
must|deploy/manifests/users.yaml|^ *app\.kubernetes\.io/version: "@"$
may|deploy/image/Dockerfile|dl-operator:@
may|docs/image.md|dl-operator:@
may|README.md|^dl-operator @ serves
may|README.md|^| status | @
may|test/cluster/chart.bats|/dl-operator:@$
TABLE
}

any='[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*'
version=$(sed -n "s/^  version: '\($any\)',\$/\1/p" meson.build)
[ -n "$version" ] || { echo "version: meson.build names none of the form 1.2.3" >&2; exit 1; }

# pattern EXPRESSION VERSION
pattern() {
  printf '%s\n' "${1%%@*}$2${1#*@}"
}

dots() { printf '%s\n' "$1" | sed 's/\./\\./g'; }

check() {
  said=$(
    places | while IFS='|' read -r must file at; do
      [ -e "$file" ] || [ "$must" = must ] || continue
      grep -no -e "$(pattern "$at" "$any")" "$file" >"$tmp/found" || {
        [ "$must" = may ] || echo "$file: names no version ($at)"
        continue
      }
      at=${at#^}
      grep -v -e "$(pattern "${at%\$}" "$(dots "$version")")\$" "$tmp/found" | sed "s|^|$file:|"
    done
    sed -n "1s/^dl-operator ($(dots "$version")) .*/well/p" debian/changelog | grep -q . ||
      echo "debian/changelog:1: $(head -n 1 debian/changelog)"
    grep '^## ' CHANGELOG.md | head -n 1 | grep -Eq "^## $(dots "$version")( |\$)" ||
      echo "CHANGELOG.md: its first entry is not that of $version"
  )
  [ -z "$said" ] || {
    echo "version: meson.build says $version, and these do not:" >&2
    printf '%s\n' "$said" | sed 's/^/  /' >&2
    return 1
  }
}

set_to() {
  sed -i "s/^  version: '$any',\$/  version: '$1',/" meson.build
  places | while IFS='|' read -r _ file at; do
    [ ! -e "$file" ] || sed -i "s~\\(${at%%@*}\\)$any\\(${at#*@}\\)~\\1$1\\2~g" "$file"
  done
  grep -q "^## $(dots "$1")\( \|\$\)" CHANGELOG.md ||
    sed -i "0,/^## /s//## $1 (not released)\n\n\n## /" CHANGELOG.md
  head -n 1 debian/changelog | grep -q "($(dots "$1"))" || {
    {
      printf 'dl-operator (%s) UNRELEASED; urgency=medium\n\n  * CHANGELOG.md has the changes.\n\n' "$1"
      sed -n '/^ -- /{s/  .*//p;q}' debian/changelog | tr -d '\n'
      printf '  %s\n\n' "$(date -uR)"
      cat debian/changelog
    } >"$tmp/changelog"
    cat "$tmp/changelog" >debian/changelog
  }
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
case $#,${1:-} in
0,) echo "$version" ;;
1,--check) check ;;
2,--set)
  printf '%s\n' "$2" | grep -qx "$any" || { echo "version: not of the form 1.2.3: $2" >&2; exit 2; }
  set_to "$2"
  ;;
*)
  sed -n 's/^#   //p' "$0" >&2
  exit 2
  ;;
esac
