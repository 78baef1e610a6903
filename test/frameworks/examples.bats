#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# MXNet and TensorFlow on this machine, through `make example-…`, with and without a worker that is killed; PyTorch
# without a manifest. Where one cannot be had its tests are skipped; with DL_REQUIRE=1 they fail.
load ../e2e/helpers

# trains NAME COMMAND…: to the end, or it could not be had: $said.
trains() {
  local name=$1
  shift
  status=0
  said=$("$@" 2>&1) || status=$?
  echo "$said"
  case $said in *"skipped: $name cannot be had"*) skip "$name cannot be had" ;; esac
  is "$status" 0
  has "$said" "dljob: $name: Succeeded"
  has "$said" "off by at most 0.0"
}

# losses_fell REPLICA: the last is a hundredth of the first.
losses_fell() {
  echo "$said" | awk -v who="$1" '
    $1 == who && match($0, /loss [0-9.]+/) { last = substr($0, RSTART + 5, RLENGTH - 5) + 0; if (!n++) first = last }
    END { exit !(n > 5 && last < first / 100) }'
}

one_restart() { # one_restart REPLICA
  has "$said" "restarts 1: $1 Failed with code 137"
  has "$said" "and 1 restart: "
}

@test "MXNet trains" {
  trains mxnet make -s -C "$root" example-mxnet
  losses_fell worker-0
  losses_fell worker-1
}

@test "MXNet: a worker that is killed starts all of them again" {
  trains mxnet "$root/scripts/example.sh" mxnet --kill worker/1@5 --env TRAIN_SECONDS=15
  one_restart worker-1
}

@test "TensorFlow trains" {
  trains tensorflow make -s -C "$root" example-tensorflow
  losses_fell master-0
}

@test "TensorFlow: a worker that is killed starts again alone" {
  trains tensorflow "$root/scripts/example.sh" tensorflow --kill worker/1@5 --env TRAIN_SECONDS=15
  one_restart worker-1
  is "$(echo "$said" | grep -c 'master 0, TensorFlow')" 1
}

@test "PyTorch trains without a manifest, as under torchrun" {
  status=0
  variables=$("$root/scripts/example.sh" --install pytorch 2>install) || status=$?
  cat install
  [ "$status" != 77 ] || skip "pytorch cannot be had"
  is "$status" 0
  readarray -t variables <<<"$variables"
  split env "${variables[@]}" TRAIN_SECONDS=0 \
    "$DLJOB" run -n 3 -- /usr/bin/python3 "$root/examples/frameworks/pytorch_ddp.py"
  echo "$err"
  is "$status" 0
  said=$out
  for rank in 0 1 2; do
    losses_fell worker-$rank
    has "$said" "worker-$rank | trainer $rank of 3, PyTorch "
  done
  is "$(echo "$said" | grep -c 'off by at most 0.0.*, 0.0000 apart$')" 3
}
