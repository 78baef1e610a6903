#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# The version, and a release as far as it takes no time, in a scratch repository of the files as they are now. All parts
# of a release: test/cluster/release.bats.
load helpers

setup_file() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@localhost
  export GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@localhost
  mkdir "$BATS_FILE_TMPDIR/origin"
  cd "$BATS_FILE_TMPDIR/origin" || return 1
  git -C "$root" ls-files -z | tar -C "$root" --null -T - -cf - | tar -xf -
  git init -q -b main
  git add -A
  git commit -q -m all
}

# scratch FOLDER: a repository of the files as they are.
scratch() {
  git clone -q "$BATS_FILE_TMPDIR/origin" "$1"
}

# committed FOLDER
committed() {
  git -C "$1" add -A
  git -C "$1" commit -q -m all
}

# dated FOLDER: as who releases it leaves the changelogs.
dated() {
  sed -i 's/^## \([0-9.]*\) (not released)$/## \1 (2026-01-02)/' "$1/CHANGELOG.md"
  sed -i '1s/UNRELEASED/unstable/' "$1/debian/changelog"
}

@test "all files name the version of meson.build" {
  split "$root/scripts/version.sh" --check
  is "$status $err" "0 "
  is "dljob $("$root/scripts/version.sh")" "$(dljob --version)"
}

@test "another version is found wherever it stands" {
  scratch tree
  cd tree
  version=$(scripts/version.sh)
  for file in deploy/chart/Chart.yaml deploy/image/Dockerfile deploy/manifests/dl-operator.yaml \
    deploy/manifests/users.yaml debian/changelog CHANGELOG.md; do
    sed -i "s/$version/$version.1/" $file
    split scripts/version.sh --check
    is "$status" 1
    has "$err" "  $file:"
    git checkout -q -- $file
    rm stdout stderr
  done
  # One of two that agreed.
  sed -i '0,/^version: /s/^version: .*/version: 99.0.0/' deploy/chart/Chart.yaml
  split scripts/version.sh --check
  is "$status $(wc -l <<<"$err")" "1 2"
  has "$err" "version: 99.0.0"
}

@test "a new version is written everywhere, and begins entries in both changelogs" {
  scratch tree
  cd tree
  old=$(scripts/version.sh)
  scripts/version.sh --set 47.11.0
  is "$(scripts/version.sh)" 47.11.0
  split scripts/version.sh --check
  is "$status $err" "0 "
  has "$(head -n 3 CHANGELOG.md)" "## 47.11.0 (not released)"
  has "$(head -n 1 debian/changelog)" "dl-operator (47.11.0) UNRELEASED"
  is "$(dpkg-parsechangelog -S Version)" 47.11.0
  is "$(git grep -lF "$old" | grep -v -e '^CHANGELOG.md$' -e '^debian/changelog$' -e '^test/cluster/fixtures/')" ""
  split scripts/version.sh --set 1.2
  is "$status" 2
}

@test "a dry run: sources and SBOM, with sums, and no tag" {
  scratch one
  split env BUILD="$root/build" one/scripts/release.sh --dry-run --out files source sbom
  is "$status" 0
  cd files
  version=$("$root/scripts/version.sh")
  is "$(echo *)" "NOTES.md SHA256SUMS dl-operator-$version.spdx.json dl-operator-$version.tar.gz"
  sha256sum --quiet -c SHA256SUMS
  is "$(wc -l <SHA256SUMS)" 3
  is "$(git -C ../one tag)" ""
  has "$(cat NOTES.md)" "$(sed -n '/^- /{p;q}' "$root/CHANGELOG.md")"
  is "$(tar -tzf "dl-operator-$version.tar.gz" | grep -v '/$' | sort)" \
    "$(git -C "$root" ls-files | sed "s|^|dl-operator-$version/|" | sort)"
}

@test "the same commit elsewhere, at another time and in another zone, gives the same files" {
  scratch one
  scratch two/and/deeper
  BUILD=$root/build one/scripts/release.sh --dry-run --out first source sbom
  (umask 077 && TZ=Asia/Tokyo BUILD=$root/build two/and/deeper/scripts/release.sh --dry-run --out second source sbom)
  diff -r first second
}

@test "the SBOM is SPDX, and names each package that the programs load a library of" {
  SOURCE_DATE_EPOCH=1700000000 PYTHONDONTWRITEBYTECODE=1 "$root/scripts/sbom.py" --version 1.2.3 \
    "$root/build/dl-operator" "$root/build/dljob" >sbom
  is "$(jq -r '.spdxVersion + " " + .creationInfo.created' sbom)" "SPDX-2.3 2023-11-14T22:13:20Z"
  # Each library by its name on the disk, then its package.
  ldd "$root/build/dl-operator" "$root/build/dljob" | grep -o '/[^ ]*\.so[^ ]*' | grep -v /build/deps/ |
    xargs realpath | sort -u | sed 'p; s,^/usr,,' | xargs dpkg-query -S 2>/dev/null | sed 's/:.*//' | sort -u >packages
  [ "$(wc -l <packages)" -gt 10 ]
  is "$(jq -r '.packages[].name' sbom | grep -v -x -e dl-operator -e yyjson -e libyyjson0 | sort)" "$(cat packages)"
  is "$(jq -r '.packages[] | select(.name == "libcurl4").versionInfo' sbom)" "$(dpkg-query -W -f '${Version}' libcurl4)"
  # sqlite is dljob's alone.
  links='.relationships[] | select(.relationshipType == "DYNAMIC_LINK") | .spdxElementId + " " + .relatedSpdxElement'
  is "$(jq -r "$links" sbom | grep sqlite3)" "SPDXRef-File-dljob SPDXRef-Package-libsqlite3-0"
  # No element is named that is not there, none has the name of another.
  jq -r '.SPDXID, (.packages, .files)[].SPDXID' sbom | sort >ids
  is "$(uniq -d ids)" ""
  is "$(jq -r '.relationships[] | .spdxElementId, .relatedSpdxElement' sbom | sort -u | comm -23 - ids)" ""
}

@test "what stops a release, before anything is made" {
  scratch tree
  refused() {
    split tree/scripts/release.sh
    is "$status" 1
    has "$err" "$1"
    is "$(git -C tree tag)" "$2"
    [ ! -e tree/build/release ]
  }
  sed -i '1s/UNRELEASED/unstable/' tree/debian/changelog
  committed tree
  refused "CHANGELOG.md has no date for" ""
  dated tree
  refused "there are changes that are not committed" ""
  sed -i '1s/unstable/UNRELEASED/' tree/debian/changelog
  refused "debian/changelog says UNRELEASED" ""
  dated tree
  committed tree
  git -C tree tag "v$("$root/scripts/version.sh")"
  refused "there is a tag v" "v$("$root/scripts/version.sh")"
  # An entry without a word.
  git -C tree tag -d "v$("$root/scripts/version.sh")" >/dev/null
  sed -i '/^- /d; /^The /d; /^  /d; /^$/d' tree/CHANGELOG.md
  refused "CHANGELOG.md says nothing about" ""
  split tree/scripts/release.sh source
  is "$status" 2
  has "$err" "a release has all parts"
}
