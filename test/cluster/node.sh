# shellcheck shell=bash
# shellcheck disable=SC2154 # `up` sets here and dir, components.sh the rest
# A real node: containerd, kubelet, kube-proxy and CoreDNS, in namespaces of their own for processes, mounts
# and network. When the first process there ends, however it ends, the kernel ends and removes the rest:
# containers, mounts, links, routes and packet filters. What is left to `down` is the bridge on this machine's
# side, through which the API server and the node reach each other, and empty cgroups.
#
#   this machine               |  the node
#   bridge dlnodeN, .1         |  bridge pods, .2: the pods' links, from .10 on
#     link dlnodeN-up  ========|====== link eth0
#   kube-apiserver on .1       |  kubelet and CoreDNS on .2
#
# N is the first one that is free, and the addresses are those of 10.244.N.0/24.

# Where ip and iptables are; not every PATH has it.
PATH=$PATH:/usr/sbin:/sbin

node_name=node-0
node_image=localhost/busybox:test
node_link=
node_address=

# node_allowed DIR: or a line that says why not.
node_allowed() {
  [ "$(id -u)" = 0 ] || { say "a real node needs root"; return 1; }
  case $(realpath -m "$1")/ in
  /run/* | /var/lib/* | /var/log/*) say "a real node has /run, /var/lib and /var/log of its own: not $1"; return 1 ;;
  esac
}

# node_possible DIR: or a line that says what this machine lacks. All is tried in namespaces that end at once.
node_possible() {
  unshare --pid --fork --mount --net true || { say "a real node needs namespaces of its own: unshare fails"; return 1; }
  nsenter --mount=/proc/self/ns/mnt true || { say "a real node needs to be entered: nsenter fails"; return 1; }
  unshare --pid --fork --mount --net sh -s -- "$1" <<'SH'
lacks() {
  [ -z "$why" ] || echo "$why" | tail -n 3 >&2
  echo "cluster: a real node needs $1" >&2
  exit 1
}
why=$(mount -t proc proc /proc 2>&1) || lacks "a /proc of its own: mount fails"
why=$(mount -t tmpfs tmpfs "$1" 2>&1) || lacks "tmpfs: mount fails"
mkdir "$1/upper" "$1/work"
why=$(mount -t overlay -o "lowerdir=/run,upperdir=$1/upper,workdir=$1/work" overlay /run 2>&1) ||
  lacks "overlayfs: mount fails"
why=$(ip link add name one type bridge 2>&1) || lacks "bridges: ip link fails"
why=$(ip link add name two type veth peer name three 2>&1) || lacks "pairs of veth links: ip link fails"
why=$(iptables -t nat -A POSTROUTING -m comment --comment a -m mark --mark 1 -j MASQUERADE 2>&1) ||
  lacks "iptables with NAT, marks and comments: iptables fails"
why=$(echo 1 2>&1 >/proc/sys/net/ipv4/ip_forward) || lacks "to forward packets: net.ipv4.ip_forward cannot be set"
SH
}

# cgroup_roots: the hierarchies of this machine, one of version 2 or one for each controller.
cgroup_roots() {
  awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts
}

# node_network DIR: the bridge, its address and the cgroups. Under the lock of `up`, so that nobody else takes them.
node_network() {
  local dir=$1 i root
  for ((i = 0; i < 16; i++)); do
    [ ! -e "/sys/class/net/dlnode$i" ] || continue
    [ -z "$(ip -4 route show table all root "10.244.$i.0/24")" ] || continue
    ! ip -4 route show match "10.244.$i.0/24" | grep -qv ^default || continue
    node_link=dlnode$i api_address=10.244.$i.1 node_address=10.244.$i.2
    break
  done
  [ -n "$node_link" ] || { say "no network of 10.244.0.0/24 to 10.244.15.0/24 is free"; return 1; }
  # Written before it is made: `down` must find it.
  echo "$node_link" >"$dir/config/node"
  # With an address of its own the bridge does not take that of the link that came last. The alias says whose it is.
  ip link add name "$node_link" address "02:00:0a:f4:0$(printf %x "$i"):01" type bridge
  ip link set "$node_link" alias "$dir"
  ip address add "$api_address/24" dev "$node_link"
  ip link set "$node_link" up
  for root in $(cgroup_roots); do
    mkdir "$root/$node_link" || { say "a real node needs cgroups of its own: not in $root"; return 1; }
  done
  # Version 2 alone: what the machine gives to its first level is what the node can have.
  if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    for i in cpu cpuset memory pids; do
      grep -qw $i "/sys/fs/cgroup/$node_link/cgroup.controllers" || {
        say "a real node needs the cgroup controller $i: it is not in /sys/fs/cgroup/cgroup.subtree_control"
        return 1
      }
    done
  fi
}

# node_gone DIR: what the node's namespaces do not take with them; the bridge last, since it says whose all is.
node_gone() {
  local link end=$((SECONDS + 30)) left
  [ -s "$1/config/node" ] || return 0
  link=$(cat "$1/config/node")
  # None yet, if `up` was killed in between.
  case $(cat "/sys/class/net/$link/ifalias" 2>/dev/null || echo gone) in
  "$1" | "") ;;
  *) return 0 ;;
  esac
  ip link delete "$link-up" 2>/dev/null || true
  # A cgroup stays busy for a moment after its last process.
  while left=$(cgroup_roots | sed "s|\$|/$link|" | xargs -I{} find {} -depth -type d 2>/dev/null); [ -n "$left" ]; do
    [ $SECONDS -lt $end ] || { say "these cgroups do not go: $left"; return 1; }
    # shellcheck disable=SC2086 # names without blanks
    rmdir $left 2>/dev/null || sleep 0.1
  done
  ip link delete "$link"
}

node_configs() {
  local dir=$1 name plugins=/usr/lib/cni net=${node_address%.*}
  [ -x $plugins/bridge ] || plugins=/opt/cni/bin
  certificate "$dir" kubelet "/O=system:nodes/CN=system:node:$node_name" clientAuth
  certificate "$dir" kube-proxy "/CN=system:kube-proxy" clientAuth
  certificate "$dir" coredns "/O=system:masters/CN=coredns" clientAuth
  for name in kubelet kube-proxy coredns; do
    kubeconfig "$dir" $name >"$dir/config/$name.kubeconfig"
  done

  # Where the machine lacks CAP_SYS_RESOURCE nobody may lower a score.
  cat >"$dir/config/containerd.toml" <<TOML
version = 2
root = "$dir/node/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "$node_image"
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "$plugins"
conf_dir = "$dir/config/cni"
TOML

  mkdir "$dir/config/cni"
  cat >"$dir/config/cni/pods.conflist" <<JSON
{
  "cniVersion": "0.4.0", "name": "pods", "plugins": [{
    "type": "bridge", "bridge": "pods", "isGateway": true, "isDefaultGateway": true, "ipam": {
      "type": "host-local", "dataDir": "/run/cni",
      "ranges": [[{"subnet": "$net.0/24", "gateway": "$node_address", "rangeStart": "$net.10"}]]
    }
  }]
}
JSON

  cat >"$dir/config/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $node_address
healthzPort: 0
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: $dir/pki/ca.crt}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
podLogsDir: $dir/log/pods
clusterDNS: [$node_address]
clusterDomain: cluster.local
resolvConf: ""
cgroupDriver: cgroupfs
cgroupRoot: /$node_link
cgroupsPerQOS: true
enforceNodeAllocatable: []
failSwapOn: false
failCgroupV1: false
localStorageCapacityIsolation: true
volumeStatsAggPeriod: 1s
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 10Mi, nodefs.available: 0%, nodefs.inodesFree: 0%, imagefs.available: 0%}
YAML

  cat >"$dir/config/Corefile" <<CORE
.:53 {
  bind $node_address
  errors
  ready $node_address:8181
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $dir/config/coredns.kubeconfig
  }
}
CORE
}

node_start_scripts() {
  local dir=$1
  # Its own disk is memory. What programs write to fixed places goes there, too: /var/lib/cni, /run/containerd.
  {
    printf '#!/usr/bin/env bash\nset -e\ndir=%q\n' "$dir"
    cat <<'SH'
mount -t tmpfs -o mode=755 tmpfs "$dir/node"
for d in /run /var/lib /var/log; do
  mkdir -p "$dir/node$d/upper" "$dir/node$d/work"
  mount -t overlay -o "lowerdir=$d,upperdir=$dir/node$d/upper,workdir=$dir/node$d/work" overlay "$d"
done
mount --rbind /proc "$dir/proc"
mount -t proc proc /proc
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward
touch "$dir/node/ready"
# Whoever has lost his parent is this one's child now; the shell reaps.
trap 'exit 0' TERM
while :; do
  sleep infinity &
  wait $! || true
done
SH
  } >"$dir/start/node"
  chmod +x "$dir/start/node"

  start_script "$dir" containerd --config="$dir/config/containerd.toml"
  start_script "$dir" kubelet --config="$dir/config/kubelet.yaml" --kubeconfig="$dir/config/kubelet.kubeconfig" \
    --root-dir="$dir/node/kubelet" --hostname-override="$node_name" --node-ip="$node_address"
  # The mask of `up` would keep containers that are not root's out of their own root folder.
  sed -i '1a umask 022' "$dir/start/containerd" "$dir/start/kubelet"
  # Whatever goes to a service comes back through the node, whether or not bridges ask iptables here.
  start_script "$dir" kube-proxy --kubeconfig="$dir/config/kube-proxy.kubeconfig" --proxy-mode=iptables \
    --hostname-override="$node_name" --masquerade-all --healthz-bind-address="$node_address:10256" \
    --metrics-bind-address=127.0.0.1:10249 --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0s \
    --conntrack-tcp-timeout-close-wait=0s
  start_script "$dir" coredns -conf "$dir/config/Corefile"
}

# start_node DIR: with the API server there; ready when pods can run.
start_node() {
  local dir=$1 pid
  mkdir "$dir/node" "$dir/proc"
  node_configs "$dir"
  node_start_scripts "$dir"
  "$here/image.sh" "$node_image" "$dir/config/image.tar"
  start_component "$dir" node
  wait_for "$dir" node 30 in_node "$dir" test -e "$dir/node/ready"
  pid=$(pid_of "$dir" node)
  ip link add name "$node_link-up" master "$node_link" up type veth peer name eth0 netns "$pid"
  in_node "$dir" ip link add name pods address 02:00:0a:f4:00:02 type bridge
  in_node "$dir" ip link set eth0 master pods up
  in_node "$dir" ip address add "$node_address/24" dev pods
  in_node "$dir" ip link set pods up
  start_component "$dir" containerd
  start_component "$dir" kube-proxy
  start_component "$dir" coredns
  wait_for "$dir" containerd 60 in_node "$dir" ctr -n k8s.io images import "$dir/config/image.tar"
  start_component "$dir" kubelet
  # What else the machine may deny shows here at once, and not in pods that never start.
  in_node "$dir" ctr -n k8s.io run --rm --cgroup "/$node_link/try" "$node_image" try true </dev/null ||
    { say "a real node cannot run containers here"; return 1; }
}

# node_ready DIR: who waits for the node waits for all of it.
node_ready() {
  wait_for "$1" kube-proxy 60 curl -sf -m 5 "http://$node_address:10256/healthz"
  wait_for "$1" coredns 60 curl -sf -m 5 "http://$node_address:8181/ready"
  wait_for "$1" kubelet 120 real_node_ready
}

real_node_ready() {
  admin get node "$node_name" -o json | jq -e '(.spec.taints // []) == []
    and any(.status.conditions[]?; .type == "Ready" and .status == "True")'
}
