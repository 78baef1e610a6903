#!/bin/sh
# Writes the one image of a real node, as an archive for `ctr images import`: this machine's busybox, which
# must be linked statically, and a link for each of its commands.
#
#   test/cluster/image.sh NAME FILE.tar
#
# Without a command it sleeps: that makes it the image of the pods' sandboxes, too.
set -eu
[ $# = 2 ] || { echo "usage: test/cluster/image.sh NAME FILE.tar" >&2; exit 2; }

busybox=$(command -v busybox) || busybox=
if [ -z "$busybox" ] || ldd "$busybox" >/dev/null 2>&1; then
  echo "image.sh: no busybox that is linked statically: apt-get install busybox-static" >&2
  exit 1
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/root/bin" "$tmp/root/etc" "$tmp/root/tmp" "$tmp/image"
cp "$busybox" "$tmp/root/bin/busybox"
for command in $(busybox --list); do
  [ "$command" = busybox ] || ln -s busybox "$tmp/root/bin/$command"
done
echo "root:x:0:0:root:/:/bin/sh" >"$tmp/root/etc/passwd"
chmod -R go=u-w "$tmp/root"
tar -C "$tmp/root" --owner=0 --group=0 --numeric-owner -cf "$tmp/image/layer.tar" .

cat >"$tmp/image/config.json" <<JSON
{
  "architecture": "$(dpkg --print-architecture)", "os": "linux",
  "config": {"Env": ["PATH=/bin"], "Cmd": ["/bin/sleep", "infinity"]},
  "rootfs": {"type": "layers", "diff_ids": ["sha256:$(sha256sum <"$tmp/image/layer.tar" | cut -d' ' -f1)"]}
}
JSON
cat >"$tmp/image/manifest.json" <<JSON
[{"Config": "config.json", "RepoTags": ["$1"], "Layers": ["layer.tar"]}]
JSON
tar -C "$tmp/image" -cf "$2" manifest.json config.json layer.tar
