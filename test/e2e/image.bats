#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# The image: what is in it, and that the programs run from there. It is made of the build that is tested; that two
# clones give the same one is tried in test/cluster/image.bats.
load helpers

setup_file() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_FILE_TMPDIR" || return 1
  # With sanitizers it would be another list of libraries.
  BUILD=$root/build "$root/deploy/image/rootfs.sh" root
  "$root/deploy/image/archive.sh" root image.tar >said
  mkdir layout unpacked
  tar -C layout -xf image.tar
  tar -C unpacked --no-same-owner -pxf "layout/$(jq -r '.[0].Layers[0]' layout/manifest.json)"
  chmod 755 unpacked
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  dir=$BATS_FILE_TMPDIR
  layout=$dir/layout
  version=$("$root/build/dl-operator" --version | cut -d ' ' -f 2)
}

# blob DIGEST
blob() {
  echo "$layout/blobs/${1/://}"
}

# needed FILE…: the names of the libraries that they name themselves.
needed() {
  readelf -d "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u
}

@test "the archive is OCI's layout and Docker's, every digest and size right" {
  is "$(jq -r .imageLayoutVersion "$layout/oci-layout")" 1.0.0
  for file in "$layout"/blobs/sha256/*; do
    is "$(sha256sum <"$file" | cut -d ' ' -f 1)" "${file##*/}"
  done
  manifest=$(blob "$(jq -r '.manifests[0].digest' "$layout/index.json")")
  is "$(jq '.manifests[0].size' "$layout/index.json")" "$(stat -c %s "$manifest")"
  jq -r '.config, .layers[] | "\(.digest) \(.size)"' "$manifest" >parts
  is "$(wc -l <parts)" 2
  while read -r digest size; do
    is "$size" "$(stat -c %s "$(blob "$digest")")"
  done <parts
  config=$(blob "$(jq -r .config.digest "$manifest")")
  layer=$(blob "$(jq -r '.layers[0].digest' "$manifest")")
  is "$(jq -r '.rootfs.diff_ids[]' "$config")" "sha256:$(gzip -dc "$layer" | sha256sum | cut -d ' ' -f 1)"
  is "$layout/$(jq -r '.[0].Config' "$layout/manifest.json")" "$config"
  is "$layout/$(jq -r '.[0].Layers[]' "$layout/manifest.json")" "$layer"
  has "$(cat "$dir/said")" "dl-operator:$version sha256:$(basename "$manifest")"
}

@test "its name, its user and what it starts" {
  is "$(jq -r '.[0].RepoTags[]' "$layout/manifest.json")" "dl-operator:$version"
  is "$(jq -r '.manifests[0].annotations["io.containerd.image.name"]' "$layout/index.json")" \
    "docker.io/library/dl-operator:$version"
  config=$layout/$(jq -r '.[0].Config' "$layout/manifest.json")
  is "$(jq -r '.os + "/" + .architecture' "$config")" "linux/$(dpkg --print-architecture)"
  is "$(jq -c '.config | [.User, .Entrypoint, .Env]' "$config")" \
    '["65532:65532",["/usr/bin/dl-operator"],["PATH=/usr/bin"]]'
  is "$(jq -r '.config.Labels["org.opencontainers.image.version"]' "$config")" "$version"
  is "$(jq -r '.config.Labels["org.opencontainers.image.licenses"]' "$config")" Apache-2.0
}

@test "another name: completed as the kubelet does; what is none is refused" {
  mkdir small
  touch small/file
  while read -r name full; do
    IMAGE=$name TAG=t "$root/deploy/image/archive.sh" small other.tar >/dev/null
    is "$(tar -xOf other.tar index.json | jq -r '.manifests[0].annotations["io.containerd.image.name"]')" "$full"
    is "$(tar -xOf other.tar manifest.json | jq -r '.[0].RepoTags[]')" "$name:t"
  done <<'TABLE'
ml/op docker.io/ml/op:t
localhost/op localhost/op:t
registry.example.com:5000/ml/op registry.example.com:5000/ml/op:t
TABLE
  for name in 'a"b' UPPER 'a b' a:b:c ../x; do
    split env IMAGE="$name" "$root/deploy/image/archive.sh" small none.tar
    is "$status" 2
    has "$err" "not the name of an image: $name"
    [ ! -e none.tar ]
  done
}

@test "every library is one that a program needs, and none is missing" {
  cd "$dir/unpacked"
  libs=usr/lib/$(gcc -print-multiarch)
  interpreter=$(readelf -l usr/bin/dljob | sed -n 's/.*interpreter: \/\(.*\)\]/\1/p')
  todo="usr/bin/dl-operator usr/bin/dljob" all=
  while [ -n "$todo" ]; do
    next=
    # shellcheck disable=SC2086 # names without blanks
    for name in $(needed $todo); do
      case " $all " in
      *" $name "*) ;;
      *)
        all="$all $name"
        [ "$name" = "${interpreter##*/}" ] || next="$next $libs/$name"
        ;;
      esac
    done
    todo=$next
  done
  is "$(echo "$all ${interpreter##*/}" | xargs -n 1 | sort -u)" \
    "$(find "$libs" "$interpreter" -type f -printf '%f\n' | sort -u)"
  [ -x "$interpreter" ]
}

@test "nothing is in it but what has a reason" {
  cd "$dir/unpacked"
  # A pattern | why
  while IFS='|' read -r pattern _; do
    find . -type f -path "./$pattern" -printf '%P\n' >found
    [ -s found ] || { echo "nothing is $pattern"; return 1; }
    cat found >>"$BATS_TEST_TMPDIR/reasons"
    rm found
  done <<'TABLE'
usr/bin/dl-operator|the operator
usr/bin/dljob|for the test of the chart, for the archive of logs, and for people
usr/lib/*-linux-gnu*/lib*.so*|the last test
lib*/ld-linux*|starts both programs
usr/share/dl-operator/kinds/*.lua|to start one's own from
etc/ssl/certs/ca-certificates.crt|an API server behind a public certificate
etc/passwd|the user has a name
etc/group|the group, too
etc/nsswitch.conf|names of /etc/hosts come first
etc/os-release|scanners
var/lib/dpkg/status.d/*|scanners
usr/share/doc/*/copyright.gz|licenses
TABLE
  is "$(find . -type f -printf '%P\n' | sort)" "$(sort "$BATS_TEST_TMPDIR/reasons")"
  is "$(find . ! -type f ! -type d)" ""
  is "$(find . -type d -empty -printf '%P\n')" "tmp"
  is "$(find . -perm /6000)" ""
  is "$(find . -perm /022 -printf '%P %m\n')" "tmp 1777"
  is "$(find . -type f -perm /111 -printf '%P ' | xargs -n 1 | sort | grep -v ^lib | xargs)" \
    "usr/bin/dl-operator usr/bin/dljob"
  # Of root, all of one time.
  tar --numeric-owner --full-time -tvf "$layout/$(jq -r '.[0].Layers[0]' "$layout/manifest.json")" >list
  is "$(awk '{ print $2, $4, $5 }' list | sort -u | wc -l)" 1
  has "$(head -n 1 list)" " 0/0 "
}

@test "each library's package is named, with its license" {
  owners=$BATS_TEST_TMPDIR/owners
  cd "$dir/unpacked"
  # One question for all: a pattern would be compared with every file of the machine. Where /lib is /usr/lib, packages
  # say one or the other; of the two one is not found.
  printf '/%s\n' usr/lib/*/* | sed 'p; s,^/usr,,' | xargs dpkg-query -S >"$owners" 2>/dev/null || true
  for file in usr/lib/*/*; do
    name=${file##*/}
    # Debian 12 has no yyjson: ours is of a package that is not installed.
    package=libyyjson0
    [ "$name" = libyyjson.so.0 ] ||
      package=$(grep -e ": /$file\$" -e ": /${file#usr/}\$" "$owners" | sed 's/:.*//; q')
    # As scanners want it: they compare name and version, where there are both, of packages that are installed.
    entry=$(cat "var/lib/dpkg/status.d/$package")
    has "$entry" "Package: $package"
    has "$entry" "Status: install ok installed"
    grep -Eq '^Version: [0-9][^ ]*$' <<<"$entry"
    grep -Eq '^Architecture: [a-z0-9]+$' <<<"$entry"
    gzip -t "usr/share/doc/$package/copyright.gz"
  done
}

@test "certificates: of the package, and none of this machine's own" {
  bundle=$dir/unpacked/etc/ssl/certs/ca-certificates.crt
  is "$(grep -c BEGIN "$bundle")" "$(cat /usr/share/ca-certificates/mozilla/*.crt | grep -c BEGIN)"
  openssl crl2pkcs7 -nocrl -certfile "$bundle" | openssl pkcs7 -print_certs -noout | grep -q 'subject='
}

@test "under 25 MB, and no path of the build" {
  [ "$(stat -c %s "$dir/image.tar")" -lt 25000000 ]
  find "$dir/unpacked" -type f -printf '%s\n' | awk '{ n += $1 } END { exit n >= 25e6 }'
  for program in dl-operator dljob; do
    ! grep -qaF "$root" "$dir/unpacked/usr/bin/$program"
    is "$(readelf -S "$dir/unpacked/usr/bin/$program" | grep -c '\.debug_\|\.symtab')" 0
  done
}

@test "the digest depends on nothing but the files: not on times, owners, or the order in the folder" {
  mkdir copy
  # shellcheck disable=SC2012 # our own names
  (cd "$dir/root" && ls -A | sort -r) | while read -r name; do
    cp -r --preserve=mode "$dir/root/$name" copy/
  done
  (umask 077 && "$root/deploy/image/archive.sh" copy copy.tar >said)
  cmp "$dir/image.tar" copy.tar
  is "$(head -n 1 said)" "$(head -n 1 "$dir/said")"
}

# from_image COMMAND…: with the image as its root, which cannot be written to, and without privileges.
from_image() {
  local as=() space=(unshare --mount)
  if [ "$(id -u)" = 0 ]; then
    as=(--userspec=65532:65532)
  else
    space=(unshare --user --map-root-user --mount)
  fi
  # shellcheck disable=SC2016 # for that shell
  "${space[@]}" sh -ec 'dir=$1; shift
    mount --bind "$dir" "$dir"
    mount -o remount,bind,ro "$dir"
    exec setpriv --no-new-privs env -i "$(command -v chroot)" "$@"' sh "$dir/unpacked" "${as[@]}" "$dir/unpacked" "$@"
}

@test "both programs run from it" {
  from_image /usr/bin/dl-operator --version >ran || skip "no namespaces of mounts here: $(cat ran)"
  is "$(cat ran)" "dl-operator $version"
  is "$(from_image /usr/bin/dljob kinds)" "$(env -i "$root/build/dljob" kinds)"
  split from_image /usr/bin/dljob validate - <"$root/examples/mpba-mxjob/linear.yaml"
  is "$status" 0
  split from_image /usr/bin/dljob validate - <"$root/test/e2e/typo.yaml"
  is "$status" 2
  # Without an API server it says so and ends; it does not look for files that are not there.
  split from_image /usr/bin/dl-operator --run-in-cluster
  [ "$status" -ne 0 ]
  [ "$status" -lt 126 ]
  is "$(from_image /bin/sh -c true >/dev/null 2>&1 || echo none)" none
}

@test "the Dockerfile says the same as the archive, and names only what is there" {
  file=$root/deploy/image/Dockerfile
  config=$layout/$(jq -r '.[0].Config' "$layout/manifest.json")
  has "$(cat "$file")" "USER $(jq -r .config.User "$config")"
  has "$(cat "$file")" "ENTRYPOINT $(jq -c .config.Entrypoint "$config")"
  has "$(cat "$file")" "ENV $(jq -r '.config.Env[]' "$config")"
  has "$(cat "$file")" "ARG VERSION=$version"
  for label in $(jq -r '.config.Labels | keys[]' "$config"); do
    has "$(cat "$file")" "$label="
  done
  is "$(grep -c org.opencontainers.image "$file")" "$(jq '.config.Labels | length' "$config")"
  # Whoever builds may name what it is built in, by a digest for one.
  # shellcheck disable=SC2016 # the Dockerfile's
  is "$(sed -n 's/^FROM //p' "$file")" "$(printf '${BASE} AS build\nscratch')"
  is "$(sed '/^FROM/q' "$file" | sed -n 's/^ARG //p')" BASE=debian:bookworm-slim
  sed -n 's/^RUN \([^ ]*\).*/\1/p' "$file" >scripts
  is "$(wc -l <scripts)" 2
  while read -r script; do
    [ -x "$root/$script" ]
  done <scripts
  # What is built is what is copied.
  has "$(cat "$file")" "RUN deploy/image/rootfs.sh /root-of-image"
  has "$(cat "$file")" "COPY --from=build /root-of-image/ /"
  # Nothing of ours is left out of what Docker gets.
  is "$(git -C "$root" ls-files build 'build-*')" ""
}
