# shellcheck disable=SC2034,SC2154 # the tests read what is set here; root comes from e2e/helpers.bash
# Shared by the bats files that need a cluster: those of test/e2e, a namespace of its own for each test
# ($ns), and ways to wait by asking.
load ../e2e/helpers
here=$root/test/cluster
# shellcheck source=test/cluster/local.sh
. "$here/local.sh"
# shellcheck source=test/cluster/rights.bash
. "$here/rights.bash"

# on_this_machine: the cluster is `dljob local` (CLUSTER=local).
on_this_machine() {
  [ "$CLUSTER" = local ]
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR
  ns=$(namespace_of_test)
  new_namespace "$ns"
}

# Valid as a name, and different for each test of each file in each run.
namespace_of_test() {
  local file=${BATS_TEST_FILENAME##*/}
  echo "${file%.bats}-$BATS_TEST_NUMBER-$CLUSTER_RUN"
}

# new_namespace NAME: ready for pods.
new_namespace() {
  kubectl create namespace "$1"
  # There are no service accounts on this machine.
  on_this_machine || eventually 120 kubectl -n "$1" get serviceaccount default
}

# The kinds' definitions, served and known to kubectl. Installed by whoever comes first.
install_crds() {
  "$DLJOB" crds | kubectl apply -f - >/dev/null
  "$DLJOB" crds -o json | jq -r '.items[] | "crd/" + .metadata.name' |
    xargs kubectl wait --for=condition=Established --timeout=120s >/dev/null
  eventually 120 all_served
}

all_served() {
  rm -rf "$KUBECACHEDIR"
  [ "$(kubectl api-resources --categories=dljobs -o name | wc -l)" = "$("$DLJOB" crds -o json | jq '.items | length')" ]
}

# start_operator [FLAG…]: one for all tests of a file; end_operator. On this machine it is part of the cluster.
start_operator() {
  on_this_machine && return
  give_rights
  with_rights --metrics-bind-address=127.0.0.1:0 --health-probe-bind-address=127.0.0.1:0 "$@" \
    >"$BATS_FILE_TMPDIR/operator.log" 2>&1 3>&- &
  export OPERATOR=$!
}

end_operator() {
  on_this_machine && return
  kill "$OPERATOR" && wait "$OPERATOR" || echo "# dl-operator ended with $?" >&3
}

# example FILE: the job in examples/FILE.yaml as JSON, for whichever namespace.
example() {
  yaml_to_json <"$root/examples/$1.yaml" | jq '.[0] | del(.metadata.namespace)'
}

# nodes: what the names of all nodes begin with.
nodes() {
  kubectl get nodes -o 'jsonpath={.items[0].metadata.name}' | sed 's/[0-9]*$//'
}

# pods_do COMMAND [ANNOTATIONS] <job, in YAML or JSON: its pods run this command, where pods are processes; kwok's go by
# the annotations (stages.yaml). What a node might not have is not asked for.
pods_do() {
  yaml_to_json | jq --arg command "$1" --argjson annotations "${2:-null}" '.[0]
    | (.spec | .. | objects | select(.spec? | objects | has("containers"))) |= (
      .metadata.annotations += $annotations
      | .spec |= del(.hostNetwork, .nodeSelector, .volumes) + {terminationGracePeriodSeconds: 1}
      | .spec.containers[] |= (del(.args, .resources, .volumeMounts) + {command: ["sh", "-c", $command]}
        | .env += [{name: "POD_UID", valueFrom: {fieldRef: {fieldPath: "metadata.uid"}}}]))'
}

# ends CODE [SECONDS] <job: each of its pods ends so, that long after its start (1).
ends() {
  pods_do "sleep ${2:-1}; exit $1" "{\"fake/exit\": \"$1\", \"fake/after\": \"${2:-1}s\"}"
}

# goes_on <job: its pods run until they are stopped, or end_pod ends one.
goes_on() {
  pods_do "until [ -s '$BATS_TEST_TMPDIR/end-'\$POD_UID ]; do sleep 0.2; done
    exit \$(cat '$BATS_TEST_TMPDIR/end-'\$POD_UID)"
}

# end_pod POD UID CODE: a pod of goes_on.
end_pod() {
  if on_this_machine; then
    echo "$3" >"$BATS_TEST_TMPDIR/end-$2"
  else
    kubectl -n "$ns" annotate "$1" fake/exit="$3"
  fi
}

# An example of each kind.
one_of_each="mpba-mxjob/linear mpba-tfjob/ps-worker fioravanzo-mxjob/linear-dist mlkube-tfjob/gpu
  aitrainingjob/paddle-mnist"

# All of them, as example takes them.
examples() {
  (cd "$root/examples" && printf '%s\n' */*.yaml) | sed 's/\.yaml$//'
}

# job_in FILE.json: the job as kubectl names it: TfJob.v1beta1.mlkube.io/demo
job_in() {
  jq -r '(.apiVersion | split("/")) as [$group, $version] | "\(.kind).\($version).\($group)/\(.metadata.name)"' "$1"
}

# none COMMAND…: it succeeds, and says nothing. (Of a command in $(…) that fails, nobody hears.)
none() {
  local said
  said=$("$@") || return 1
  is "$said" ""
}

# refused WHAT COMMAND…: the command fails and says WHAT.
refused() {
  local what=$1
  shift
  split "$@"
  [ "$status" != 0 ] || {
    printf 'accepted: %s\n%s\n' "$*" "$out"
    return 1
  }
  has "$err" "$what"
}
