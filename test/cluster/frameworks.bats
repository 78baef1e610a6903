#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set root, ns, image, out and err
# bats file_tags=node
# The example programs, MXNet and TensorFlow in pods of a real node. The containers have no image of a gigabyte: they
# see this machine's /usr and the framework's folder. Where a framework cannot be had its tests are skipped; with
# DL_REQUIRE=1 they fail.
load node_helpers

setup_file() {
  node_with_operator
}

teardown_file() {
  end_operator_of_node
}

# install NAME: the variables with which it is found, in $variables; or a skip.
install() {
  local status=0
  variables=$("$root/scripts/example.sh" --install "$1") || status=$?
  [ "$status" != 77 ] || skip "$1 cannot be had"
  return "$status"
}

# in_this_machine VARIABLE=VALUE… <job.json: every replica sees what it needs of this machine, and can change none.
in_this_machine() {
  local prefix
  prefix=$(python3 -c 'import sys; print(sys.base_prefix)')
  jq --arg image "$image" --arg root "$root" --arg prefix "$prefix" --arg path "$PATH" '
    [$ARGS.positional[] | capture("(?<name>[^=]*)=(?<value>.*)")] as $variables
    | ($variables | map(select(.name == "PYTHONPATH").value)) as $framework
    | (["/usr", "/lib", "/lib64", "/etc/ld.so.cache", "\($root)/examples", $prefix] + $framework
      | map(select(. == "/usr" or (startswith("/usr/") | not))) | unique) as $paths
    | ([{name: "PATH", value: $path}] + $variables | map({key: .name, value: .}) | from_entries | map(.)) as $env
    | (.spec | .. | objects | select(.containers?)) |= (. + {
        volumes: [$paths | to_entries[] | {name: "path-\(.key)", hostPath: {path: .value}}]
      } | .containers[] |= (. + {image: $image, imagePullPolicy: "Never", workingDir: $root, env: $env,
        volumeMounts: [$paths | to_entries[] | {name: "path-\(.key)", mountPath: .value, readOnly: true}]}))
    ' --args "$@"
}

# job FILE [VARIABLE=VALUE…]: from the examples, created; $job.
job() {
  local file=$1 lines=()
  shift
  [ -z "${variables:-}" ] || mapfile -t lines <<<"$variables"
  # Who has ended stays, though the operator hears of another's end first.
  example "$file" | kept | in_this_machine "${lines[@]}" "$@" >job.json
  job=$(create job.json)
}

# pod_of ROLE INDEX: its name.
pod_of() {
  kubectl -n "$ns" get pods -o name -l "dl-operator.mpba.fbk.eu/role=$1,dl-operator.mpba.fbk.eu/index=$2"
}

logs() { # logs ROLE INDEX
  kubectl -n "$ns" logs "$(pod_of "$@")"
}

said() { # said ROLE INDEX TEXT
  has "$(logs "$1" "$2")" "$3"
}

# kill_in_node ROLE INDEX: its container's process, as the kernel would.
kill_in_node() {
  local pod id
  pod=$(pod_of "$@")
  id=$(kubectl -n "$ns" get "$pod" -o jsonpath='{.status.containerStatuses[0].containerID}')
  in_node "$NODE_DIR" ctr -n k8s.io tasks kill --signal SIGKILL "${id#containerd://}"
}

# losses_fell ROLE INDEX: the last is a hundredth of the first.
losses_fell() {
  logs "$@" | awk 'match($0, /loss [0-9.]+/) { last = substr($0, RSTART + 5, RLENGTH - 5) + 0; if (!n++) first = last }
    END { exit !(n > 5 && last < first / 100) }'
}

@test "plain Python in pods: a parameter server, a ring, TF_CONFIG" {
  for file in local/linear local/ring local/tfconfig; do
    job $file
    jobs+=("$job")
  done
  for each in "${jobs[@]}"; do
    ended "$each" Complete
    is "$(record "$each" '[.phase, .restarts // 0]')" '["Succeeded",0]'
  done
  said master 0 "4 tasks, 0 wrong answers"
}

@test "plain Python in pods: a worker that is killed starts all of them again" {
  job local/linear TRAIN_SECONDS=10
  eventually 120 said worker 1 "step 10 of"
  kill_in_node worker 1
  # The others end as well, with the same code: any of them may be seen first.
  restarted_once Job
}

@test "MXNet trains in pods" {
  install mxnet
  job frameworks/mxnet
  ended "$job" Complete
  is "$(record "$job" '[.phase, .restarts // 0]')" '["Succeeded",0]'
  for i in 0 1; do
    losses_fell worker $i
    said worker $i "off by at most 0.0"
  done
}

@test "MXNet: a worker that is killed starts all of them again" {
  install mxnet
  job frameworks/mxnet TRAIN_SECONDS=20
  eventually 180 said worker 1 "step 10 of"
  kill_in_node worker 1
  restarted_once Job
  the_worker_was_it
}

@test "TensorFlow trains in pods" {
  install tensorflow
  job frameworks/tensorflow
  ended "$job" Complete
  is "$(record "$job" '[.phase, .restarts // 0]')" '["Succeeded",0]'
  said master 0 "off by at most 0.0"
  losses_fell master 0
}

@test "TensorFlow: a worker that is killed starts again alone" {
  install tensorflow
  job frameworks/tensorflow TRAIN_SECONDS=20
  eventually 180 said worker 1 "loss"
  kill_in_node worker 1
  restarted_once Pod
  the_worker_was_it
}

restarted_once() { # restarted_once SCOPE
  ended "$job" Complete
  record "$job" .
  is "$(record "$job" '.lastRestart | [.cause, .exitCode, .scope]')" "[\"Failed\",137,\"$1\"]"
  is "$(record "$job" '[.phase, .restarts]')" '["Succeeded",1]'
}

the_worker_was_it() {
  is "$(record "$job" '.lastRestart | [.role, .index]')" '["worker",1]'
}
