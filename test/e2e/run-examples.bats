#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# The jobs of examples/local on this machine, from their start to their end, with and without a replica that is killed.
load helpers

export PYTHONDONTWRITEBYTECODE=1

setup() {
  # Where the manifests' commands are found.
  cd "$root" || return 1
  unset DL_OPERATOR_KINDS NO_COLOR
}

# job NAME [OPTION…]: runs it to its end: $status, $said.
job() {
  local name=$1
  shift
  status=0
  said=$(dljob run "$@" "examples/local/$name.yaml" 2>&1) || status=$?
  echo "$said"
}

# one_restart REPLICA: it was killed, the job started again once, and ended well.
one_restart() {
  is "$status" 0
  has "$said" "restarts 1: $1 Failed with code 137"
  has "$said" "and 1 restart: "
}

# loss REPLICA: the last number that it printed.
loss() {
  echo "$said" | sed -n "s/^$1 *|.*: loss \([0-9.]*\).*/\1/p" | tail -n 1
}

@test "linear regression: both workers' losses fall on their own rows, the weights are the true ones" {
  job linear
  is "$status" 0
  for worker in worker-0 worker-1; do
    has "$said" "on 500 of 1000 rows"
    is "$(loss $worker)" 0.0004
  done
  has "$said" "worker-0    | worker 0: no weight is off by more than"
  has_not "$said" "restarts 1"
}

@test "linear regression: a worker that is killed starts all of them again" {
  job linear --kill worker/1@1 --env TRAIN_SECONDS=4
  one_restart worker-1
  has "$said" "no weight is off by more than"
}

@test "linear regression: weights that are off fail the job, without another try" {
  job linear --env TRAIN_STEPS=5
  is "$status" 1
  has "$said" "a weight is off by"
  has_not "$said" "restarts 1"
}

@test "all-reduce ring: with and without a trainer that is killed" {
  job ring
  is "$status" 0
  is "$(echo "$said" | grep -c 'all ranks agree')" 3
  job ring --kill trainer/1@1 --env TRAIN_SECONDS=4
  one_restart trainer-1
  has "$said" "trainer 0: one of 3, after 1 restart(s)"
}

@test "TF_CONFIG: everybody finds everybody, also a worker that starts again alone" {
  job tfconfig
  is "$status" 0
  has "$said" "4 tasks, 0 wrong answers"
  job tfconfig --kill worker/1@1 --env TRAIN_SECONDS=4
  one_restart worker-1
  has "$said" "4 tasks, 0 wrong answers"
  is "$(echo "$said" | grep -c 'ps 0: serves on port')" 1
}
