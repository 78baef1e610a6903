#!/bin/sh
# Makes an image of the folder that deploy/image/rootfs.sh filled, as one archive in OCI's layout that `ctr images import`,
# `podman load`, `skopeo copy oci-archive:` and `docker load` take. Prints its name and its digest.
#
#   deploy/image/archive.sh FOLDER FILE.tar
#
# IMAGE: its repository (dl-operator). TAG: its tag (the version). SOURCE_DATE_EPOCH: the time of all files (that of the
# last commit), so that the same sources give the same digest wherever and whenever they are built. REVISION: the commit.
set -eu
umask 022
LC_ALL=C
export LC_ALL
[ $# = 2 ] || { echo "usage: deploy/image/archive.sh FOLDER FILE.tar" >&2; exit 2; }
root=$(realpath "$1")
mkdir -p "$(dirname "$2")"
file=$(realpath "$(dirname "$2")")/$(basename "$2")
cd "$(dirname "$0")/../.."

version=$(sed -n "s/^ *version: '\([^']*\)',$/\1/p" meson.build)
image=${IMAGE:-dl-operator}
tag=${TAG:-$version}
revision=${REVISION:-$(git rev-parse HEAD 2>/dev/null || true)}
if [ -z "${REVISION:-}" ] && [ -n "$(git status --porcelain 2>/dev/null)" ]; then
  revision=$revision-dirty
fi
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || true)}
epoch=${epoch:-0}

# What may stand in a reference stands in JSON as it is.
echo "$image:$tag" |
  grep -Eqx '([a-zA-Z0-9][a-zA-Z0-9.-]*(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*:[a-zA-Z0-9_][a-zA-Z0-9._-]*' ||
  { echo "archive: not the name of an image: $image:$tag" >&2; exit 2; }

# The name in full, as Docker and the kubelet complete it.
case $image in
localhost/* | *.*/* | *:*/*) full=$image:$tag ;;
*/*) full=docker.io/$image:$tag ;;
*) full=docker.io/library/$image:$tag ;;
esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
blobs=$tmp/image/blobs/sha256
mkdir -p "$blobs"

# packed FOLDER NAME…: a tar that depends on what is in it only.
packed() {
  folder=$1
  shift
  tar -C "$folder" --format=ustar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner -cf - "$@"
}

sum() { sha256sum "$1" | cut -d ' ' -f 1; }

# blob FILE: moves it among the blobs, and sets digest and size.
blob() {
  digest=$(sum "$1")
  size=$(stat -c %s "$1")
  mv "$1" "$blobs/$digest"
}

# In the archive / is its members, not itself.
# shellcheck disable=SC2046 # our own names
packed "$root" $(ls -A "$root") >"$tmp/layer.tar"
diff=$(sum "$tmp/layer.tar")
gzip -n "$tmp/layer.tar"
blob "$tmp/layer.tar.gz"
layer=$digest layer_size=$size

created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
cat >"$tmp/config" <<JSON
{
  "created": "$created",
  "architecture": "$(dpkg --print-architecture | sed 's/^armhf$/arm/; s/^ppc64el$/ppc64le/')",
  "os": "linux",
  "config": {
    "User": "65532:65532",
    "Env": ["PATH=/usr/bin"],
    "Entrypoint": ["/usr/bin/dl-operator"],
    "WorkingDir": "/",
    "Labels": {
      "org.opencontainers.image.title": "dl-operator",
      "org.opencontainers.image.description": "Runs deep-learning jobs on Kubernetes",
      "org.opencontainers.image.version": "$version",
      "org.opencontainers.image.revision": "$revision",
      "org.opencontainers.image.licenses": "Apache-2.0"
    }
  },
  "rootfs": {"type": "layers", "diff_ids": ["sha256:$diff"]},
  "history": [{"created": "$created", "created_by": "deploy/image/rootfs.sh"}]
}
JSON
blob "$tmp/config"
config=$digest

cat >"$tmp/manifest" <<JSON
{
  "schemaVersion": 2,
  "mediaType": "application/vnd.oci.image.manifest.v1+json",
  "config": {
    "mediaType": "application/vnd.oci.image.config.v1+json", "digest": "sha256:$config", "size": $size
  },
  "layers": [{
    "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": "sha256:$layer", "size": $layer_size
  }]
}
JSON
blob "$tmp/manifest"

cat >"$tmp/image/index.json" <<JSON
{
  "schemaVersion": 2,
  "mediaType": "application/vnd.oci.image.index.v1+json",
  "manifests": [{
    "mediaType": "application/vnd.oci.image.manifest.v1+json", "digest": "sha256:$digest", "size": $size,
    "annotations": {"io.containerd.image.name": "$full", "org.opencontainers.image.ref.name": "$tag"}
  }]
}
JSON
# For Docker.
cat >"$tmp/image/manifest.json" <<JSON
[{"Config": "blobs/sha256/$config", "RepoTags": ["$image:$tag"], "Layers": ["blobs/sha256/$layer"]}]
JSON
printf '{"imageLayoutVersion": "1.0.0"}\n' >"$tmp/image/oci-layout"
packed "$tmp/image" blobs index.json manifest.json oci-layout >"$file.new"
mv "$file.new" "$file"

unpacked=$(find "$root" -type f -printf '%s\n' | awk '{ n += $1 } END { printf "%.1f", n / 1e6 }')
echo "$image:$tag sha256:$digest"
stat -c %s "$file" | awk -v file="$2" -v unpacked="$unpacked" \
  '{ printf "%s: %.1f MB (%s MB unpacked)\n", file, $1 / 1e6, unpacked }'
