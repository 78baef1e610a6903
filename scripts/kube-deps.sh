#!/bin/sh
# Builds a Kubernetes control plane for tests, once for each version, and prints the folders where it
# lies as a PATH. What it does stands on standard error.
#
#   PATH=$(scripts/kube-deps.sh):$PATH
#   PATH=$(scripts/kube-deps.sh --node):$PATH     also what a node that runs containers needs
#   PATH=$(scripts/kube-deps.sh --local):$PATH    what tests of the cluster on this machine need, and no Kubernetes:
#                                                 a kubectl of this very version, and busybox
#   PATH=$(scripts/kube-deps.sh --helm):$PATH     only helm
#
# Everything is built from source through the Go module proxy and kept outside the checkout, in
# $DL_OPERATOR_CACHE (default: ~/.cache/dl-operator). kubectl is the machine's, if it is new enough; so is
# promtool, or it is taken out of Debian's package (which, installed, would start a server). containerd,
# runc and the network plugins are Debian's.
# KUBE_VERSION, ETCD_VERSION, KWOK_VERSION, COREDNS_VERSION and HELM_VERSION choose others than these:
set -eu
kube=${KUBE_VERSION:-1.36.3}
etcd=${ETCD_VERSION:-3.6.16}
kwok=${KWOK_VERSION:-0.8.0}
coredns=${COREDNS_VERSION:-1.14.7}
helm=${HELM_VERSION:-3.21.4}

cache=${DL_OPERATOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/dl-operator}
kube_dir=$cache/kubernetes-$kube
kubectl_dir=$cache/kubectl-$kube
etcd_dir=$cache/etcd-$etcd
kwok_dir=$cache/kwok-$kwok
prometheus_dir=$cache/prometheus
coredns_dir=$cache/coredns-$coredns
helm_dir=$cache/helm-$helm

node=
local=
only=
case $* in
'') ;;
--node)
  node=yes
  PATH=$PATH:/usr/sbin:/sbin
  ;;
--local)
  local=yes
  only=$kubectl_dir/kubectl
  ;;
--helm) only=$helm_dir/helm ;;
*)
  echo "usage: scripts/kube-deps.sh [--node | --local | --helm]" >&2
  exit 2
  ;;
esac

say() { echo "kube-deps: $*" >&2; }

fail() {
  say "$*"
  exit 1
}

# What tests ask of kubectl (--subresource, --validate=strict) came with 1.25; Debian 12 has 1.20.
kubectl_will_do() {
  minor=$(kubectl version --client -o json 2>/dev/null | jq -r .clientVersion.minor | tr -dc 0-9)
  [ "${minor:-0}" -ge 25 ]
}

missing_binaries() {
  if [ -n "$only" ]; then
    [ -x "$only" ] || echo "$only"
    return 0
  fi
  [ -x "$kube_dir/kubectl" ] || kubectl_will_do || echo "$kube_dir/kubectl"
  for f in "$etcd_dir/etcd" "$kube_dir/kube-apiserver" "$kube_dir/kube-controller-manager" \
    "$kube_dir/kube-scheduler" "$kwok_dir/kwok"; do
    [ -x "$f" ] || echo "$f"
  done
  [ -x "$prometheus_dir/promtool" ] || command -v promtool >/dev/null 2>&1 || echo "$prometheus_dir/promtool"
  [ -n "$node" ] || return 0
  for f in "$kube_dir/kubelet" "$kube_dir/kube-proxy" "$coredns_dir/coredns"; do
    [ -x "$f" ] || echo "$f"
  done
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    fail "as root, please: $*"
  fi
}

# Once in a run.
update_lists() {
  [ -z "${updated:-}" ] || return 0
  as_root apt-get update -qq >&2 || say "apt-get update failed; trying with the lists that are there"
  updated=1
}

# The busybox of the images must need no libraries.
busybox_is_static() {
  busybox=$(command -v busybox) && ! ldd "$busybox" >/dev/null 2>&1
}

# install_packages: Debian packages of the commands that are not there.
install_packages() {
  pairs="openssl:openssl jq:jq setpriv:util-linux flock:util-linux curl:curl"
  [ -z "$node" ] || pairs="$pairs ip:iproute2 iptables:iptables pgrep:procps containerd:containerd runc:runc"
  packages=
  for pair in $pairs; do
    command -v "${pair%:*}" >/dev/null 2>&1 || packages="$packages ${pair#*:}"
  done
  [ -z "$node$local" ] || busybox_is_static || packages="$packages busybox-static"
  if [ -n "$node" ]; then
    [ -x /opt/cni/bin/bridge ] || [ -x /usr/lib/cni/bridge ] || packages="$packages containernetworking-plugins"
  fi
  [ -n "$packages" ] || return 0
  say "installing$packages"
  update_lists
  # shellcheck disable=SC2086 # a list of package names
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >&2
}

# begin NAME TIME: says what is built, makes a module to build it in. (With a `go` line of today: without
# one, Go reads the whole graph of modules.)
begin() {
  command -v go >/dev/null 2>&1 ||
    fail "Go is needed to build Kubernetes $kube, and there is no 'go' on the PATH; install Go 1.26 or later"
  say "building $1 ($2)"
  started=$(date +%s)
  module=$tmp/module
  rm -rf "$module"
  mkdir "$module"
  go_quiet mod init build
}

# finish FILE: what `go build` left as $tmp/out becomes FILE, at once and whole.
finish() {
  mkdir -p "$(dirname "$1")"
  mv "$tmp/out" "$1"
  say "built $1 in $(($(date +%s) - started)) s"
}

go_quiet() {
  (cd "$module" && go "$@") >"$tmp/log" 2>&1 || {
    grep -v '^go: downloading' "$tmp/log" | tail -n 40 >&2
    fail "failed: go $*"
  }
}

build_etcd() {
  begin "etcd $etcd" "a minute on two cores"
  go_quiet mod edit -require="go.etcd.io/etcd/server/v3@v$etcd"
  go_quiet build -mod=mod -o "$tmp/out" go.etcd.io/etcd/server/v3
  finish "$etcd_dir/etcd"
}

build_kwok() {
  begin "kwok $kwok" "a minute or two on two cores"
  go_quiet install "sigs.k8s.io/kwok/cmd/kwok@v$kwok"
  mv "$GOBIN/kwok" "$tmp/out"
  finish "$kwok_dir/kwok"
}

fetch_promtool() {
  say "taking promtool out of Debian's package prometheus (19 MB)"
  mkdir "$tmp/deb"
  (cd "$tmp/deb" && apt-get download -qq prometheus >&2) || {
    update_lists
    (cd "$tmp/deb" && apt-get download -qq prometheus >&2) || fail "there is no package prometheus"
  }
  dpkg-deb -x "$tmp"/deb/prometheus_*.deb "$tmp/deb"
  mkdir -p "$prometheus_dir"
  mv "$tmp/deb/usr/bin/promtool" "$prometheus_dir/promtool"
}

build_coredns() {
  begin "CoreDNS $coredns" "two or three minutes on two cores"
  go_quiet install "github.com/coredns/coredns@v$coredns"
  mv "$GOBIN/coredns" "$tmp/out"
  finish "$coredns_dir/coredns"
}

# Without a version of Kubernetes helm renders for 1.20.
build_helm() {
  begin "helm $helm" "a minute or two on two cores"
  minor=${kube#*.}
  util=helm.sh/helm/v3/pkg/chartutil
  go_quiet install -ldflags "-X helm.sh/helm/v3/internal/version.version=v$helm \
-X $util.k8sVersionMajor=${kube%%.*} -X $util.k8sVersionMinor=${minor%%.*}" "helm.sh/helm/v3/cmd/helm@v$helm"
  mv "$GOBIN/helm" "$tmp/out"
  finish "$helm_dir/helm"
}

# Kubernetes replaces the modules of its staging folder by paths; as a dependency it needs their
# published versions instead, 0.N.P for Kubernetes 1.N.P.
kube_module() {
  go_quiet mod download "k8s.io/kubernetes@v$kube"
  gomod=$(go mod download -json "k8s.io/kubernetes@v$kube" | jq -r .GoMod)
  # shellcheck disable=SC2046 # a list of options
  go_quiet mod edit -require="k8s.io/kubernetes@v$kube" $(go mod edit -json "$gomod" | jq -r --arg v "v0.${kube#1.}" \
    '.Replace[] | select(.New.Path | startswith("./staging/")) | "-replace=\(.Old.Path)=\(.Old.Path)@\($v)"')
}

build_kube() { # build_kube PROGRAM FILE
  case $1 in
  kube-apiserver) begin "$1 $kube" "four minutes on two cores" ;;
  *) begin "$1 $kube" "a minute on two cores" ;;
  esac
  kube_module
  version=k8s.io/component-base/version
  minor=${kube#*.}
  go_quiet build -mod=mod -o "$tmp/out" -ldflags "-X $version.gitVersion=v$kube \
-X $version.gitMajor=${kube%%.*} -X $version.gitMinor=${minor%%.*}" "k8s.io/kubernetes/cmd/$1"
  finish "$2"
}

build() {
  # A workspace or flags of the caller's would change what is built.
  export GOWORK=off GO111MODULE=on GOFLAGS=-buildvcs=false
  tmp=$(mktemp -d "$cache/building.XXXXXX")
  trap 'rm -rf "$tmp"' EXIT
  trap 'exit 130' INT TERM HUP
  export GOBIN="$tmp/bin"
  missing_binaries | while read -r f; do
    case $f in
    */etcd) build_etcd ;;
    */kwok) build_kwok ;;
    */promtool) fetch_promtool ;;
    */coredns) build_coredns ;;
    */helm) build_helm ;;
    *) build_kube "$(basename "$f")" "$f" ;;
    esac
  done
}

install_packages
if [ -n "$(missing_binaries)" ]; then
  mkdir -p "$cache"
  exec 9>"$cache/lock"
  flock -n 9 || {
    say "somebody else is building; waiting"
    flock 9
  }
  # Whoever held the lock may have built everything.
  [ -z "$(missing_binaries)" ] || build
  [ -z "$(missing_binaries)" ] || exit 1
fi
[ -z "$only" ] || { dirname "$only"; exit 0; }
echo "$kube_dir:$etcd_dir:$kwok_dir:$prometheus_dir${node:+:$coredns_dir}"
