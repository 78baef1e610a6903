# shellcheck shell=bash
# The cluster on this machine, for the bats files that start one: each test has its own, in ./home.
# shellcheck disable=SC2154,SC2034,SC2317 # helpers.bash sets root; the tests read and call what is here

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR KUBECONFIG
  export DLJOB_HOME=$BATS_TEST_TMPDIR/home KUBECACHEDIR=$BATS_TEST_TMPDIR/kubectl-cache
}

# up [options]: bats waits for whoever holds its descriptor 3.
up() {
  dljob local up "$@" 3>&-
}

# The number of the process, from what status says.
cluster_pid() { dljob local status | sed -n 's/.*, pid //p'; }

# kill_cluster: with SIGKILL, and it is gone.
kill_cluster() {
  local pid
  pid=$(cluster_pid)
  kill -KILL "$pid"
  gone() { [ ! -e "/proc/$1" ]; }
  eventually 60 gone "$pid"
}

# job NAME SCRIPT [REPLICAS]: on standard output. Its pods stay; POLICY, PORT.
job() {
  trainers "$1" "$2" "${3:-1}" "  cleanPodPolicy: None" \
    "            ports: [{name: aitj-${PORT:-2222}, containerPort: ${PORT:-2222}}]"
}

# submit [options]: standard input.
submit() { dljob submit --local -q "$@" -; }

# api PATH [curl options]: the body.
api() {
  local path=$1
  shift
  curl -sS -m 60 --cacert home/ca.pem -H "Authorization: Bearer $(cat home/token)" "$@" \
    "https://127.0.0.1:$(cat home/port)$path"
}

pods=/api/v1/namespaces/default/pods
jobs=/apis/elasticdeeplearning.ai/v1/namespaces/default/aitrainingjobs

# phase_is JOB PHASE
phase_is() { is "$(api "$jobs/$1" | jq -r .status.dlOperator.phase)" "$2"; }

# ended JOB PHASE: waits for its end, which must be that.
ended() {
  dljob wait --local -q --timeout 60s "$1" >/dev/null || true
  phase_is "$1" "$2"
}

# The parents of all pods that live, by what they wrote.
pod_pids() { jq -r 'select(.life != "ended") | .pid' home/pods/*/state.json 2>/dev/null | sort -n; }

# remember: what there is of the cluster, for nothing_left().
remember() {
  id=$(cat home/id)
  uids=$(ls home/pods)
  link=$(grep -lsx "dl-operator cluster $id" /sys/class/net/*/ifalias | sed 's,.*net/\(.*\)/ifalias,\1,') || true
  has "$uids" -
  has "$(processes_of "$DLJOB_HOME")" "pod $DLJOB_HOME/pods/"
  [ "$(id -u)" != 0 ] || has "$link" dlj-
}

# processes_of HOME: the programs that were started with it, and its pods' parents.
processes_of() {
  local p
  { grep -lszx "DLJOB_HOME=$1" /proc/[0-9]*/environ; grep -lsz "^$1/pods/" /proc/[0-9]*/cmdline; } |
    cut -d / -f 3 | sort -u | while read -r p; do
    [ "$(readlink "/proc/$p/exe")" != "$DLJOB" ] || echo "$p $(tr '\0' ' ' <"/proc/$p/cmdline")"
  done
}

# nothing_left: no process, namespace (they live by their processes), mount, control group, link or table.
nothing_left() {
  local uid
  is "$(processes_of "$DLJOB_HOME")" ""
  has_not "$(cat /proc/self/mountinfo)" "$DLJOB_HOME/"
  for uid in $uids; do
    is "$(find /sys/fs/cgroup -maxdepth 4 -name "$uid" 2>/dev/null)" ""
  done
  is "$(grep -lsx "dl-operator cluster $id" /sys/class/net/*/ifalias || true)" ""
  if [ "$(id -u)" = 0 ] && [ -n "$link" ]; then
    has_not "$("$root/test/e2e/nft_tables.py")" "$link"
  fi
}
