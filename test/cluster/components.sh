# shellcheck shell=bash
# shellcheck disable=SC2154 # `up` sets here and dir
# The components: with which flags each is started, and how to ask it whether it is ready.

api_address=127.0.0.1
port_etcd=
port_peer=
port_api=
port_manager=
port_scheduler=
port_kwok=

# find_ports: ten ports in a row that nobody uses. Below the range of outgoing connections, so that a
# component that is stopped for a while finds its port free.
find_ports() {
  local busy base p
  busy=$(awk '{ sub(/.*:/, "", $2); print $2 }' /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  for ((base = 21000; base < 31000; base += 10)); do
    for ((p = base; p < base + 10; p++)); do
      [[ $busy != *$(printf %04X $p)* ]] || continue 2
    done
    port_etcd=$base port_peer=$((base + 1)) port_api=$((base + 2)) port_manager=$((base + 3))
    port_scheduler=$((base + 4)) port_kwok=$((base + 5))
    return 0
  done
  say "no free ports"
  return 1
}

# start_script DIR PROGRAM ARGUMENT…: DIR/start/PROGRAM
start_script() {
  local file=$1/start/$2
  shift
  {
    echo '#!/bin/sh'
    printf 'exec %q' "$(command -v "$1")"
    shift
    printf ' \\\n  %q' "$@"
    echo
  } >"$file"
  chmod +x "$file"
}

write_start_scripts() {
  local dir=$1 pki=$1/pki name
  kubeconfig "$dir" admin >"$dir/kubeconfig"
  for name in kube-controller-manager kube-scheduler kwok; do
    kubeconfig "$dir" $name >"$dir/config/$name.kubeconfig"
  done

  start_script "$dir" etcd --data-dir="$dir/etcd" --unsafe-no-fsync --log-level=warn \
    --listen-client-urls="http://127.0.0.1:$port_etcd" --advertise-client-urls="http://127.0.0.1:$port_etcd" \
    --listen-peer-urls="http://127.0.0.1:$port_peer" --initial-advertise-peer-urls="http://127.0.0.1:$port_peer" \
    --initial-cluster="default=http://127.0.0.1:$port_peer"

  # The last two flags: a stopped server sends away those who watch, and goes.
  start_script "$dir" kube-apiserver --bind-address="$api_address" --advertise-address="$api_address" \
    --secure-port="$port_api" --etcd-servers="http://127.0.0.1:$port_etcd" \
    --endpoint-reconciler-type="$([ "$api_address" = 127.0.0.1 ] && echo none || echo lease)" \
    --kubelet-client-certificate="$pki/admin.crt" --kubelet-client-key="$pki/admin.key" \
    --service-cluster-ip-range=10.96.0.0/16 --allow-privileged=true --kubelet-preferred-address-types=InternalIP \
    --tls-cert-file="$pki/server.crt" --tls-private-key-file="$pki/server.key" --client-ca-file="$pki/ca.crt" \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$pki/service-accounts.pub" \
    --service-account-signing-key-file="$pki/service-accounts.key" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=OwnerReferencesPermissionEnforcement \
    --audit-policy-file="${CLUSTER_AUDIT_POLICY:-$here/audit-policy.yaml}" --audit-log-path="$dir/audit.log" \
    --audit-log-maxsize=4096 \
    --shutdown-delay-duration=0s --shutdown-watch-termination-grace-period=1s

  start_script "$dir" kube-controller-manager --kubeconfig="$dir/config/kube-controller-manager.kubeconfig" \
    --bind-address=127.0.0.1 --secure-port="$port_manager" --leader-elect=false \
    --use-service-account-credentials=true --service-account-private-key-file="$pki/service-accounts.key" \
    --root-ca-file="$pki/ca.crt" --kube-api-qps=500 --kube-api-burst=1000

  start_script "$dir" kube-scheduler --kubeconfig="$dir/config/kube-scheduler.kubeconfig" \
    --bind-address=127.0.0.1 --secure-port="$port_scheduler" --leader-elect=false \
    --kube-api-qps=500 --kube-api-burst=1000

  start_script "$dir" kwok --kubeconfig="$dir/config/kwok.kubeconfig" --config="${CLUSTER_STAGES:-$here/stages.yaml}" \
    --manage-all-nodes=false --manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake \
    --node-lease-duration-seconds=40 --server-address="127.0.0.1:$port_kwok" --node-ip=10.244.0.1 --cidr=10.244.0.0/16
}

admin() { kubectl --kubeconfig="$dir/kubeconfig" --request-timeout=5s "$@"; }

etcd_ready() { curl -sf -m 5 "http://127.0.0.1:$port_etcd/readyz"; }

api_ready() {
  curl -sf -m 5 --cacert "$dir/pki/ca.crt" --cert "$dir/pki/admin.crt" --key "$dir/pki/admin.key" \
    "https://$api_address:$port_api/readyz"
}

# Their certificates are signed by nobody.
https_ready() { curl -skf -m 5 "https://127.0.0.1:$1/healthz"; }

# guard DIR PID: ends the cluster when the process PID is gone.
guard() {
  cat >"$1/start/guard" <<SH
#!/bin/sh
tail --pid=$2 -s 0.2 -f /dev/null
CLUSTER_GUARD=$(printf %q "$1") exec $(printf '%q --keep-logs %q' "$here/down" "$1")
SH
  chmod +x "$1/start/guard"
  start_component "$1" guard
}

# make_nodes N: nodes that kwok plays, of 64 cores and 8 GPUs each.
make_nodes() {
  local i
  for ((i = 0; i < $1; i++)); do
    cat <<YAML
---
apiVersion: v1
kind: Node
metadata:
  name: fake-$i
  labels: {kubernetes.io/hostname: fake-$i, kubernetes.io/os: linux, kubernetes.io/arch: amd64}
  annotations: {kwok.x-k8s.io/node: fake}
status:
  capacity: &size {cpu: "64", memory: 256Gi, pods: "1000", nvidia.com/gpu: "8"}
  allocatable: *size
YAML
  done | admin create -f - >/dev/null
}

# nodes_ready N: pods can be put on all of them.
nodes_ready() {
  [ "$(admin get nodes -o json | jq '[.items[]
    | select(.metadata.annotations["kwok.x-k8s.io/node"] and (.spec.taints // []) == [])
    | select(any(.status.conditions[]?; .type == "Ready" and .status == "True"))] | length')" = "$1" ]
}
