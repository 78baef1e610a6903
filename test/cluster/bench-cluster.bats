#!/usr/bin/env bats
# The bench of the operator itself: that it measures, and that its load generator does not hide errors.

setup_file() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  TARGETS="dl-operator test/bench-cluster/replay" scripts/build.sh build
}

setup() {
  cd "$BATS_TEST_DIRNAME/../.." || return 1
  replay=build/test/bench-cluster/replay
  export KUBECONFIG=$CLUSTER_DIR/kubeconfig
}

@test "all figures of a small case are there" {
  run test/bench-cluster/run --build build --runs 2 --case small
  [ "$status" -eq 0 ]
  for what in "operator " "generator " "generator's rate" "operator / generator" "its peak after a restart" \
    "CPU of the operator" "p50" "p99"; do
    [[ $output == *"  $what"* ]] || { echo "no: $what"; false; }
  done
  [[ $output == *"to the next request          5 times"* ]]
}

@test "small jobs beside large ones are measured" {
  run test/bench-cluster/run --build build --case small-fair
  echo "$output"
  [ "$status" -eq 0 ]
  for what in "the large ones took" "a small job to its last pod" "p50" "p99"; do
    [[ $output == *"  $what"* ]] || { echo "no: $what"; false; }
  done
}

@test "replay sends what the file says" {
  printf 'GET /version - 0\n\nGET /version - 0\n\n' >"$BATS_TEST_TMPDIR/f"
  run "$replay" 2 "$BATS_TEST_TMPDIR/f"
  [ "$status" -eq 0 ]
  [[ $output == "2 requests, "*" 0 errors" ]]
}

@test "replay fails if a request is refused" {
  printf 'GET /version - 0\n\nGET /nowhere - 0\n\n' >"$BATS_TEST_TMPDIR/f"
  run "$replay" 2 "$BATS_TEST_TMPDIR/f"
  [ "$status" -eq 1 ]
  [[ $output == *"replay: 404"* ]]
  [[ $output == *" 1 errors" ]]
}

@test "replay fails if the file is none" {
  printf 'GET /version - 0\n\nWHAT /version - 0\n\n' >"$BATS_TEST_TMPDIR/f"
  run "$replay" 1 "$BATS_TEST_TMPDIR/f"
  [ "$status" -eq 1 ]
  [[ $output == *"request 2 cannot be read"* ]]
}
