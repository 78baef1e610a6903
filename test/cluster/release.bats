#!/usr/bin/env bats
# shellcheck disable=SC2016,SC2154 # scripts of jobs are in single quotes; helpers.bash sets root, out and err
# bats file_tags=apart
# A whole release, in a clone of what is committed, and its files where they are used: the packages in a bare Debian 12,
# the wheel in a virtual environment. What stops a release: test/e2e/release.bats.
load ../e2e/helpers

setup_file() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_FILE_TMPDIR" || return 1
  "$root/scripts/deps.sh" --release
  git clone -q "$root" clone
  mkdir clone/build
  [ ! -e "$root/build/deps" ] || cp -r "$root/build/deps" clone/build/
  cd clone || return 1
  version=$(scripts/version.sh)
  export version
  # As who releases it leaves them.
  sed -i "s/^## $version (not released)\$/## $version (2026-01-02)/" CHANGELOG.md
  sed -i '1s/UNRELEASED/unstable/' debian/changelog
  export GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@localhost
  export GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@localhost
  git tag -d "v$version" >/dev/null 2>&1 || true
  git commit -q -a --allow-empty -m "release: $version"
  scripts/release.sh >../said 2>&1 || {
    cat ../said
    return 1
  }
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  clone=$BATS_FILE_TMPDIR/clone
  files=$clone/build/release/$version
  wheel=$(echo "$files"/dljob-*.whl)
}

@test "its files, their sums, and a tag" {
  arch=$(dpkg --print-architecture)
  is "$(cd "$files" && ls)" "$(sort <<NAMES
NOTES.md
SHA256SUMS
dl-operator-$version.spdx.json
dl-operator-$version.tar.gz
dl-operator-chart-$version.tgz
dl-operator-image-$version-$arch.tar
dl-operator_${version}_$arch.deb
${wheel##*/}
dljob_${version}_$arch.deb
NAMES
)"
  (cd "$files" && sha256sum --quiet -c SHA256SUMS)
  is "$(wc -l <"$files/SHA256SUMS")" 8
  is "$(git -C "$clone" cat-file -t "v$version")" tag
  is "$(git -C "$clone" rev-parse "v$version^{commit}")" "$(git -C "$clone" rev-parse HEAD)"
  is "$(git -C "$clone" status --porcelain)" ""
  split "$clone/scripts/release.sh"
  is "$status" 1
  has "$err" "there is a tag v$version already"
}

@test "made again elsewhere, sources, chart, SBOM and wheel are the same" {
  git clone -q "$clone" again/and/deeper
  (umask 077 && cd again/and/deeper && git tag -d "v$version" >/dev/null &&
    TZ=Asia/Tokyo BUILD=$clone/build-image scripts/release.sh --dry-run --out "$PWD/out" source sbom chart wheel)
  for file in again/and/deeper/out/dl*; do
    cmp "$file" "$files/${file##*/}"
  done
  is "$(find again/and/deeper/out -name 'dl*' | wc -l)" 4
}

@test "the chart is one for helm" {
  helm=$("$root/scripts/kube-deps.sh" --helm)/helm
  "$helm" show chart "$files/dl-operator-chart-$version.tgz" >shown
  is "$(grep -i '^\(app\)\?version: ' shown)" "$(printf 'appVersion: %s\nversion: %s' "$version" "$version")"
  "$helm" template x "$files/dl-operator-chart-$version.tgz" >rendered
  "$helm" template x "$root/deploy/chart" >want
  cmp rendered want
}

@test "the SBOM is that of the image" {
  sbom=$files/dl-operator-$version.spdx.json
  mkdir image root
  tar -C image -xf "$files/dl-operator-image-$version-$(dpkg --print-architecture).tar"
  is "$(jq -r '.[0].RepoTags[]' image/manifest.json)" "dl-operator:$version"
  tar -C root -xf "image/$(jq -r '.[0].Layers[0]' image/manifest.json)"
  for name in dl-operator dljob; do
    is "$(jq -r --arg name "./$name" '.files[] | select(.fileName == $name).checksums[]
      | select(.algorithm == "SHA256").checksumValue' "$sbom")" "$(sha256sum <root/usr/bin/$name | cut -d ' ' -f 1)"
  done
  # The authorities are a file, and linked to nothing.
  is "$(jq -r '.packages[].name' "$sbom" | grep -v -x dl-operator | sed 's/^yyjson$/libyyjson0/' | sort)" \
    "$(cd root/var/lib/dpkg/status.d && find . -type f ! -name ca-certificates -printf '%f\n' | sort)"
}

# debian COMMAND…: in the bare Debian, with processes and mounts of its own.
debian() {
  unshare --mount --pid --fork sh -ec 'dir=$1; shift
    mount --bind "$dir" "$dir"
    mount -t proc proc "$dir/proc"
    mount -t sysfs sys "$dir/sys"
    mount --rbind /dev "$dir/dev"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive chroot "$dir" "$@"
  ' sh "$BATS_TEST_TMPDIR/debian" "$@"
}

@test "the Debian packages install in a bare Debian 12, and run" {
  [ "$(id -u)" = 0 ] || skip "only root can make a Debian to install packages in"
  [ "$(. /etc/os-release && echo "$VERSION_ID")" = 12 ] || skip "the packages are for this Debian, which is not 12"
  mkdir debian
  tar -C debian -xf "$("$root/scripts/debian-root.sh")"
  # The way to the packages that ours depend on is the machine's.
  cp -L /etc/resolv.conf debian/etc/resolv.conf
  apt-config dump | grep -i '^Acquire::https\?::' >debian/etc/apt/apt.conf.d/machine || true
  cp "$files"/*.deb debian/root/
  debian apt-get update -qq
  # Each for itself, and beside the other.
  for name in dljob dl-operator; do
    debian sh -c "apt-get install -y -qq --no-install-recommends /root/${name}_*.deb" >log 2>&1 || {
      cat log
      return 1
    }
    is "$(debian $name --version)" "$name $version"
  done
  is "$(debian sh -c 'dpkg -l | grep -c yyjson' || true)" 0
  has "$(debian dl-operator --help)" "usage: dl-operator [flags]"
  trainers two 'echo "I am replica $TRAININGJOB_REPLICA_INDEX of $(hostname)"' 2 >debian/root/job.yaml
  split debian dljob run /root/job.yaml
  is "$status" 0
  has "$out" "trainer-1 | I am replica 1"
  has "$err" "Succeeded"
  split debian dljob run - <<<'{}'
  is "$status" 2
  # What comes with them.
  for file in man/man1/dljob.1.gz man/man8/dl-operator.8.gz bash-completion/completions/dljob \
    zsh/vendor-completions/_dljob dl-operator/kinds/mlkube-tfjob.lua dl-operator/apparmor/dljob \
    doc/dljob/copyright; do
    [ -s "debian/usr/share/$file" ] || { echo "no $file"; return 1; }
  done
  has "$(debian kubectl-dljob --help)" "usage: kubectl dljob"
  # And go with them.
  debian dpkg --purge dljob dl-operator >/dev/null
  is "$(find debian -xdev \( -name '*dljob*' -o -name '*dl-operator*' \) ! -path '*/root/*' ! -path '*/var/log/*' \
    ! -path '*/var/cache/*')" ""
}

@test "the wheel installs in a virtual environment, and runs from nothing but it and the C library" {
  /usr/bin/python3 -m venv venv
  venv/bin/pip install -q --no-index --no-cache-dir --disable-pip-version-check "$wheel"
  is "$(venv/bin/dljob --version)" "dljob $version"
  is "$(venv/bin/python -m dljob --version)" "dljob $version"
  has "$(venv/bin/kubectl-dljob --help)" "usage: kubectl dljob"
  has "$(venv/bin/kubectl_complete-dljob val)" "validate"
  trainers two 'echo "I am replica $TRAININGJOB_REPLICA_INDEX"' 2 >job.yaml
  split venv/bin/dljob run job.yaml
  is "$status" 0
  has "$out" "trainer-1 | I am replica 1"
  program=$(echo venv/lib/python3*/site-packages/dljob/bin/dljob)
  ldd "$program" | sed -n 's/.* => \([^ ]*\) (.*/\1/p' >loaded
  grep -v "^$(realpath "$(dirname "$program")")/" loaded | xargs realpath | sed 'p; s,^/usr,,' |
    xargs dpkg-query -S 2>/dev/null | sed 's/:.*//' | sort -u >outside
  is "$(cat outside)" libc6
  [ "$(grep -c "^$PWD/venv" loaded)" -gt 10 ]
}

@test "the wheel says which glibc it needs, and has a license for each library" {
  mkdir wheel
  (cd wheel && /usr/bin/python3 -m zipfile -e "$wheel" .)
  info=wheel/dljob-$version.dist-info
  newest=$(objdump -T wheel/dljob/bin/* | grep -o '(\?GLIBC_[0-9.]*)\?' | tr -d '()' | sort -uV | tail -n 1)
  has "${wheel##*/}" "-py3-none-manylinux_2_${newest#GLIBC_2.}_$(uname -m).whl"
  has "$(cat "$info/WHEEL")" "Tag: py3-none-manylinux_2_${newest#GLIBC_2.}_$(uname -m)"
  # Every file is in RECORD, with its digest.
  (cd wheel && find . -type f ! -name RECORD -printf '%P\n' | sort | while read -r name; do
    printf '%s,sha256=%s,%s\n' "$name" "$(openssl dgst -sha256 -binary "$name" | base64 | tr '+/' '-_' | tr -d =)" \
      "$(stat -c %s "$name")"
  done) >record
  diff <(grep -v '/RECORD,,$' "$info/RECORD" | sort) <(sort record)
  for lib in wheel/dljob/bin/lib*; do
    readelf -d "$lib" | grep -q 'RUNPATH.*\[\$ORIGIN\]'
    name=yyjson
    case $lib in
    */libyyjson*) ;;
    *)
      path=$(ldconfig -p | sed -n "s/.*${lib##*/} .* => //p" | head -n 1)
      name=$(realpath "$path" | sed 'p; s,^/usr,,' | xargs dpkg-query -S 2>/dev/null | sed 's/:.*//; q')
      ;;
    esac
    [ -s "$info/licenses/$name.txt" ]
  done
  grep -rhos '/usr/share/common-licenses/[A-Z][A-Za-z0-9.-]*[A-Za-z0-9]' "$info"/licenses/*.txt | sort -u |
    while read -r path; do [ -s "$info/licenses/common-licenses/${path##*/}" ] || { echo "no $path"; exit 1; }; done
}
