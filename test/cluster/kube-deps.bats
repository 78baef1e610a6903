#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# bats file_tags=apart
# scripts/kube-deps.sh, with a Go that builds nothing.
load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export DL_OPERATOR_CACHE=$PWD/cache FAKE=$PWD
  unset KUBE_VERSION ETCD_VERSION KWOK_VERSION HELM_VERSION
  mkdir bin
  PATH=$PWD/bin:$PATH
  program go <<'SH'
echo "$PWD: go $*" >>"$FAKE/log"
case "$1 $2" in
"mod init") echo "module $3" >go.mod ;;
"mod download") printf '{"GoMod": "%s/kubernetes.mod"}\n' "$FAKE" ;;
"mod edit")
  [ "$3" = -json ] || exit 0
  echo '{"Replace": [{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}},
    {"Old": {"Path": "other"}, "New": {"Path": "other", "Version": "v1.0.0"}}]}'
  ;;
install*)
  for last; do :; done
  name=${last##*/}
  name=${name%@*}
  mkdir -p "$GOBIN" && echo "$last" >"$GOBIN/$name" && chmod +x "$GOBIN/$name"
  ;;
build*)
  [ ! -e "$FAKE/broken" ] || { echo "undefined: everything"; exit 1; }
  while [ "$1" != -o ]; do shift; done
  for last; do :; done
  echo "$last" >"$2" && chmod +x "$2"
  ;;
esac
SH
  program kubectl <<<'echo "{\"clientVersion\": {\"minor\": \"32+\"}}"'
  program promtool <<<'exit 0'
}

# program NAME: a script of that name on the PATH, from standard input.
program() {
  { echo '#!/bin/sh'; cat; } >"bin/$1"
  chmod +x "bin/$1"
}

kube_deps() { "$root/scripts/kube-deps.sh" "$@"; }

builds() { grep -c 'go build\|go install' log || true; }

@test "everything once, by version; then nothing" {
  split kube_deps
  is "$status" 0
  is "$out" "$PWD/cache/kubernetes-1.36.3:$PWD/cache/etcd-3.6.16:$PWD/cache/kwok-0.8.0:$PWD/cache/prometheus"
  has "$err" "building kube-apiserver 1.36.3"
  is "$(cd cache && find . -type f -printf '%P %m\n' | sort)" "etcd-3.6.16/etcd 755
kubernetes-1.36.3/kube-apiserver 755
kubernetes-1.36.3/kube-controller-manager 755
kubernetes-1.36.3/kube-scheduler 755
kwok-0.8.0/kwok 755
lock 644"
  is "$(cat cache/kubernetes-1.36.3/kube-scheduler)" k8s.io/kubernetes/cmd/kube-scheduler
  is "$(builds)" 5
  # The staging modules, and only those, by their published versions.
  has "$(cat log)" "mod edit -require=k8s.io/kubernetes@v1.36.3 -replace=k8s.io/api=k8s.io/api@v0.36.3"
  has_not "$(cat log)" other
  has "$(cat log)" "gitVersion=v1.36.3"
  has "$(cat log)" "gitMinor=36"
  split kube_deps
  is "$status" 0
  is "$err" ""
  is "$(builds)" 5
  split env KUBE_VERSION=1.35.4 "$root/scripts/kube-deps.sh"
  is "$out" "$PWD/cache/kubernetes-1.35.4:$PWD/cache/etcd-3.6.16:$PWD/cache/kwok-0.8.0:$PWD/cache/prometheus"
  is "$(builds)" 8
}

@test "--node: what a node needs as well, and Debian's packages of what is not there" {
  for c in ip iptables containerd runc busybox; do
    program $c <<<'exit 0'
  done
  # A script is no static program, so busybox is missing; the others are there.
  program ldd <<<'exit 0'
  # shellcheck disable=SC2016 # for the script
  program apt-get <<<'echo "apt-get $*" >>"$FAKE/log"'
  program id <<<'echo 0'
  split kube_deps --node
  is "$status" 0
  is "${out##*:}" "$PWD/cache/coredns-1.14.7"
  is "$(cat cache/coredns-1.14.7/coredns)" github.com/coredns/coredns@v1.14.7
  is "$(cat cache/kubernetes-1.36.3/kubelet)" k8s.io/kubernetes/cmd/kubelet
  is "$(cat cache/kubernetes-1.36.3/kube-proxy)" k8s.io/kubernetes/cmd/kube-proxy
  is "$(builds)" 8
  has "$(grep 'apt-get install' log)" "busybox-static"
  has_not "$(grep 'apt-get install' log)" "runc"
  # Linked statically, it will do.
  program ldd <<<'exit 1'
  rm log
  split kube_deps --node
  is "$status" 0
  has_not "$(cat log 2>/dev/null || true)" busybox-static
  split kube_deps --what
  is "$status" 2
  has "$err" usage
}

@test "--local: a kubectl, and busybox; no Kubernetes" {
  rm -f bin/busybox
  program busybox <<<'exit 0'
  program ldd <<<'exit 0'
  # shellcheck disable=SC2016 # for the script
  program apt-get <<<'echo "apt-get $*" >>"$FAKE/log"'
  program id <<<'echo 0'
  split kube_deps --local
  is "$status" 0
  is "$out" "$PWD/cache/kubectl-1.36.3"
  is "$(builds)" 1
  has "$(grep 'apt-get install' log)" busybox-static
  has_not "$(grep 'apt-get install' log)" containerd
}

@test "--helm: only that" {
  split kube_deps --helm
  is "$status" 0
  is "$out" "$PWD/cache/helm-3.21.4"
  is "$(cat cache/helm-3.21.4/helm)" helm.sh/helm/v3/cmd/helm@v3.21.4
  is "$(builds)" 1
  has "$(cat log)" "k8sVersionMinor=36"
  split kube_deps --helm
  is "$err" ""
}

@test "a kubectl that is too old, or none, is not used" {
  program kubectl <<<'echo "{\"clientVersion\": {\"minor\": \"20\"}}"'
  split kube_deps
  is "$status" 0
  is "$(cat cache/kubernetes-1.36.3/kubectl)" k8s.io/kubernetes/cmd/kubectl
  rm cache/kubernetes-1.36.3/kubectl
  program kubectl <<<'exit 1'
  split kube_deps
  [ -x cache/kubernetes-1.36.3/kubectl ]
}

@test "promtool comes out of Debian's package, if there is none" {
  mkdir plain
  for c in sh env cat chmod mkdir mv flock rm mktemp dirname basename date id jq tr openssl setpriv curl grep; do
    ln -s "$(command -v $c)" plain/
  done
  rm bin/promtool
  program apt-get <<'SH'
echo "apt-get $*" >>"$FAKE/log"
[ "$1" != download ] || [ -e "$FAKE/updated" ] || { : >"$FAKE/updated"; exit 100; }
[ "$1" != download ] || echo >prometheus_2_amd64.deb
SH
  # shellcheck disable=SC2016 # for the script
  program dpkg-deb <<<'mkdir -p "$3/usr/bin" && echo promtool >"$3/usr/bin/promtool" && chmod +x "$3/usr/bin/promtool"'
  split env PATH="$PWD/bin:$PWD/plain" "$root/scripts/kube-deps.sh"
  is "$status" 0
  is "$(grep -c 'apt-get update' log)" 1
  is "$(cat cache/prometheus/promtool)" promtool
  split env PATH="$PWD/bin:$PWD/plain" "$root/scripts/kube-deps.sh"
  is "$err" ""
}

@test "a build that fails: its output, exit 1, and nothing half built" {
  touch broken
  split kube_deps
  is "$status" 1
  is "$out" ""
  has "$err" "undefined: everything"
  has "$err" "failed: go build"
  is "$(ls cache)" lock
  rm broken
  split kube_deps
  is "$status" 0
}

@test "two at once build once" {
  # The first waits, while it builds, until the second has come.
  mkfifo came
  # shellcheck disable=SC2016 # for the script
  sed -i '1a case $1 in build) [ -e "$FAKE/met" ] || { : >"$FAKE/met"; read -r x <"$FAKE/came"; } ;; esac' bin/go
  "$root/scripts/kube-deps.sh" >first 2>&1 3>&- &
  first=$!
  eventually 30 test -e met
  "$root/scripts/kube-deps.sh" >second 2>&1 3>&- &
  second=$!
  eventually 30 grep -q waiting second
  echo >came
  wait $first
  wait $second
  is "$(builds)" 5
  is "$(tail -n 1 first)" "$(tail -n 1 second)"
}

@test "without Go: what to do" {
  mkdir plain
  for c in sh env cat mkdir flock rm mktemp dirname date id jq tr openssl setpriv curl; do
    ln -s "$(command -v $c)" plain/
  done
  split env PATH="$PWD/plain" "$root/scripts/kube-deps.sh"
  is "$status" 1
  has "$err" "there is no 'go' on the PATH"
}
