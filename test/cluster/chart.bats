#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set root, here, ns, image, out and err
# bats file_tags=node
# The chart on a real node: dl-operator inside the cluster, from its image and with the rights that it is given.
load node_helpers
load chart_helpers

setup_file() {
  node_alone
  image_in_node
  everything >"$BATS_FILE_TMPDIR/before"
  install_chart "$root/deploy/chart"
}

teardown_file() {
  end_node chart
}

teardown() {
  kill_started
}

# bats test_tags=version
@test "installed: two operators are ready, one leads, and definitions are served" {
  is "$(operators | wc -l)" 2
  is "$(kubectl -n dl get deployment dl-operator -o 'jsonpath={.status.readyReplicas}')" 2
  has "$(operators)" "pod/$(leader)"
  is "$(kubectl api-resources --categories=dljobs -o name | wc -l)" "$(dljob crds -o json | jq '.items | length')"
  # The hook took its rights with it.
  is "$(kubectl get clusterrolebindings,clusterroles,serviceaccounts -A -o name | grep -c crds || true)" 0
}

@test "installed: as nobody, with nothing" {
  pod=$(leader)
  pid=$(operator_pid "$pod")
  # Not what was asked for, but what the kernel has.
  is "$(awk '$1 == "Uid:" { print $2, $3, $4, $5 }' "/proc/$pid/status")" "65532 65532 65532 65532"
  is "$(awk '/^Cap/ { print $2 }' "/proc/$pid/status" | sort -u)" 0000000000000000
  is "$(awk '$1 == "NoNewPrivs:" || $1 == "Seccomp:" { print $2 }' "/proc/$pid/status" | paste -s -d ' ')" "1 2"
  is "$(awk '$5 == "/" { print $6 }' "/proc/$pid/mountinfo" | cut -d, -f1)" ro
  # No shell and no tool: nothing to run.
  for f in bin/sh bin/bash usr/bin/env usr/bin/dpkg; do
    [ ! -e "/proc/$pid/root/$f" ]
  done
}

@test "one job of each kind to its end" {
  one_of_each_kind
}

# bats test_tags=version
@test "helm test: a job to its end" {
  helm -n dl test dl-operator --timeout 180s >said 2>&1 || { cat said; false; }
  is "$(grep -c "Phase:          Succeeded" said)" "$(grep -c Phase: said)"
  eventually 60 no_jobs dl
}

no_jobs() { # no_jobs NAMESPACE
  is "$(kubectl -n "$1" get dljobs -o name)" ""
}

@test "archive: what pods that are gone have written" {
  in_node "$NODE_DIR" mkdir -p /var/lib/archive
  kubectl get nodes -o json | jq '.items[0].metadata.labels["kubernetes.io/hostname"] as $node
    | {apiVersion: "v1", kind: "PersistentVolume", metadata: {name: "archive"}, spec: {capacity: {storage: "10Gi"},
      accessModes: ["ReadWriteOnce"], storageClassName: "archive", local: {path: "/var/lib/archive"},
      nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
        {key: "kubernetes.io/hostname", operator: "In", values: [$node]}]}]}}}}' | kubectl apply -f -
  helm -n dl upgrade dl-operator "$root/deploy/chart" "${values[@]}" --wait --timeout 180s \
    --set archive.enabled=true,archive.persistence.storageClass=archive
  # shellcheck disable=SC2016 # for the container
  tfjob talk 1 "  policy: {cleanPods: All}" | yaml_to_json | jq '.[0]' |
    in_containers 'echo "hello from $HOSTNAME"' >job.json
  ended "$(create job.json)" Complete
  eventually 60 no_pods
  kept() {
    kubectl -n dl exec deployment/dl-operator-archive -- /usr/bin/dljob logs --from /archive -n "$ns" talk |
      grep '^master-0 | hello from talk-master-'
  }
  eventually 60 kept
  helm -n dl upgrade dl-operator "$root/deploy/chart" --reset-values "${values[@]}" --wait --timeout 180s
  # Switched off, it leaves the logs where they are, until somebody deletes their claim.
  is "$(kubectl -n dl get deployments -o name)" deployment.apps/dl-operator
  is "$(kubectl -n dl get pvc dl-operator-archive -o 'jsonpath={.status.phase}')" Bound
  kubectl -n dl delete pvc dl-operator-archive --timeout=120s
  kubectl delete persistentvolume archive
}

no_pods() {
  is "$(kubectl -n "$ns" get pods -o name)" ""
}

@test "a rolling update while twenty jobs run: none is lost, none waits" {
  longest=99
  # A busy machine gets three tries; who waits for a lease to end (15 s) fails all of them.
  for try in 1 2 3; do
    kubectl -n "$ns" delete dljobs --all --timeout=120s
    twenty_jobs
    kubectl -n dl rollout restart deployment/dl-operator
    twenty_end "kubectl -n dl rollout status deployment/dl-operator --timeout=180s"
    delays | sort -n >waited
    is "$(wc -l <waited)" 40
    longest=$(tail -n 1 waited)
    echo "# try $try: the longest delay was $longest s" >&3
    [ "$longest" -gt 3 ] || break
  done
  [ "$longest" -le 3 ]
}

# Before the first release goes: whoever ends meanwhile has no rights any more to give its Lease away.
@test "nothing that it asked for was refused, and it may do no more" {
  jq -r 'select(.user.username | startswith("system:serviceaccount:dl:"))
    | .annotations["authorization.k8s.io/decision"]' "$NODE_DIR/audit.log" | sort | uniq -c >decisions
  cat decisions
  is "$(awk '{ print $2 }' decisions)" allow
  [ "$(awk '{ print $1 }' decisions)" -gt 500 ]
  while read -r verb resource sub; do
    can=$(kubectl auth can-i "$verb" "$resource" --subresource="$sub" -A \
      --as=system:serviceaccount:dl:dl-operator) || true
    is "$verb $resource $sub: $can" "$verb $resource $sub: no"
  done <<'TABLE'
get secrets
create pods exec
get pods log
get configmaps
update nodes
create customresourcedefinitions.apiextensions.k8s.io
patch customresourcedefinitions.apiextensions.k8s.io
create tfjobs.mlkube.io
create leases.coordination.k8s.io
create deployments.apps
bind clusterroles.rbac.authorization.k8s.io
TABLE
}

@test "an upgrade from revision 1, and back, while twenty jobs run" {
  helm -n dl uninstall dl-operator --wait --timeout 120s
  kubectl -n "$ns" delete dljobs --all --timeout=120s
  dljob crds -o json | jq -r '.items[].metadata.name' | xargs kubectl delete crd
  kubectl apply -f "$here/fixtures/revision-1/crds.yaml"
  install_chart "$here/fixtures/revision-1/chart" --set crds.install=false
  is "$(revisions)" 1
  twenty_jobs
  helm -n dl upgrade dl-operator "$root/deploy/chart" --reset-values "${values[@]}" --wait --timeout 180s
  is "$(revisions)" "$(dljob crds -o json | jq -r '.items[0].metadata.annotations["dl-operator.mpba.fbk.eu/revision"]')"
  helm -n dl rollback dl-operator --wait --timeout 180s
  # Definitions never go back: what newer jobs say would be lost.
  [ "$(revisions)" -gt 1 ]
  twenty_end true
}

# What the schema of the values cannot know: a name that is replaced by itself.
@test "a file of accelerators that cannot be taken: the new operator waits and says why, the others go on" {
  helm -n dl upgrade dl-operator "$root/deploy/chart" --reset-values "${values[@]}" \
    --set 'accelerators.config.accelerators.nvidia\.com/gpu.resource=nvidia.com/gpu'
  eventually 120 somebody_waits
  pod=$(waiting_operator)
  has "$(kubectl -n dl logs "$pod")" "controller-config-file.yaml:2:3: "
  is "$(kubectl -n dl get "$pod" -o 'jsonpath={.status.containerStatuses[0].restartCount}')" 0
  is "$(kubectl -n dl get deployment dl-operator -o 'jsonpath={.status.readyReplicas}')" 2
  ip=$(kubectl -n dl get "$pod" -o 'jsonpath={.status.podIP}')
  has "$(in_node "$NODE_DIR" curl -s "http://$ip:8081/readyz")" "is replaced by itself"
  job_that_ends_after served 1 >job.json
  ended "$(create job.json)" Complete
  # Mended, it goes on by itself.
  helm -n dl upgrade dl-operator "$root/deploy/chart" --reset-values "${values[@]}" --set accelerators.cloud=gke \
    --wait --timeout 300s
}

# An operator's pod that runs and is not ready, if there is one.
waiting_operator() {
  kubectl -n dl get pods -l app.kubernetes.io/component=operator -o json | jq -r '.items[]
    | select(.status.phase == "Running" and .status.containerStatuses[0].ready == false) | "pod/" + .metadata.name'
}

somebody_waits() {
  [ -n "$(waiting_operator)" ] && has "$(kubectl -n dl logs "$(waiting_operator)")" "waiting for the file to be fixed"
}

@test "a value of the wrong type is told by its name, and nothing changes" {
  refused "replicas" helm -n dl upgrade dl-operator "$root/deploy/chart" --set-string replicas=two
  is "$(helm -n dl status dl-operator -o json | jq -r .info.status)" deployed
}

# It removes what the others use.
# bats test_tags=version
@test "uninstalled: nothing is left but definitions and jobs" {
  tfjob stays 1 | yaml_to_json | jq '.[0]' | in_containers "sleep 100000" >job.json
  job=$(create job.json)
  kubectl -n "$ns" wait --for=condition=Running --timeout=120s "$job"
  helm -n dl uninstall dl-operator --wait --timeout 120s
  eventually 60 only_jobs_left
  is "$(kubectl -n "$ns" get "$job" -o 'jsonpath={.status.dlOperator.phase}')" Running
  is "$(kubectl -n "$ns" get pods --no-headers | awk '{ print $3 }' | sort -u)" Running
}

only_jobs_left() {
  everything | diff "$BATS_FILE_TMPDIR/before" -
}

# With a cluster of one's own: the images are called as the README and the example call them.
@test "the walk-through of the README prints what it says" {
  helm -n dl uninstall dl-operator --wait --ignore-not-found
  in_node "$NODE_DIR" ctr -n k8s.io images tag --force localhost/dl-operator:test docker.io/library/dl-operator:0.1.0
  in_node "$NODE_DIR" ctr -n k8s.io images tag --force "$image" docker.io/library/busybox:1.36
  kubectl config set-context --current --namespace="$ns"
  awk '
    /^```console cluster$/ { inside = 1; next }
    /^```/ { inside = 0; next }
    inside && /^\$ / { n++; print substr($0, 3) >(n ".command"); printf "" >(n ".want"); next }
    inside { print >(n ".want") }
  ' "$root/README.md"
  n=$(find . -name '*.command' | wc -l)
  [ "$n" -ge 8 ]
  for ((i = 1; i <= n; i++)); do
    (cd "$root" && PATH=$(dirname "$DLJOB"):$PATH sh "$OLDPWD/$i.command") >"$i.got" 2>&1 ||
      { cat "$i.command" "$i.got"; false; }
    python3 "$here/alike.py" "$i.want" "$i.got"
  done
}
