#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# scripts/example.sh, with a pip that installs nothing and a dljob that says what it was told.
load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  export DL_OPERATOR_CACHE="$PWD/ca che" FAKE=$PWD
  unset DL_REQUIRE
  mkdir bin
  PATH=$PWD/bin:$PATH
  # Whatever is asked for lies in the folder afterwards, unless it is out of reach.
  program python3 <<'SH'
case "$*" in
-c*) echo 3.11 ;;
*--version) ;;
*)
  while [ "$1" != --target ]; do shift; done
  dir=$2
  mkdir -p "$dir"
  shift 2
  echo "$*" | tee -a "$FAKE/installed" >"$dir/what"
  [ ! -e "$FAKE/away" ] || { echo "ERROR: No matching distribution found"; exit 1; }
  ;;
esac
SH
  program dljob <<'SH'
for word; do echo "<$word>"; done
exit 3
SH
}

program() { # program NAME: a script of that name on the PATH, from standard input
  { echo '#!/bin/sh'; cat; } >"bin/$1"
  chmod +x "bin/$1"
}

example_sh() { DLJOB=$FAKE/bin/dljob "$root/scripts/example.sh" "$@"; }

@test "a framework is installed once; the job finds it, and its status is the script's" {
  for _ in 1 2; do
    split example_sh mxnet --kill worker/1@1
    is "$status" 3
    is "$out" "<run>
<--env>
<PYTHONPATH=$PWD/ca che/frameworks/mxnet-1.9.1-py3.11>
<--kill>
<worker/1@1>
<examples/frameworks/mxnet.yaml>"
  done
  is "$(cat installed)" "mxnet==1.9.1 numpy<1.24"
  is "$(ls "ca che/frameworks")" "lock
mxnet-1.9.1-py3.11"
}

@test "what is installed only prints the variables" {
  split example_sh --install tensorflow
  is "$status" 0
  is "$out" "PYTHONPATH=$PWD/ca che/frameworks/tensorflow-2.21.0-py3.11"
}

@test "a framework that cannot be had is skipped, or a failure where it must be there; nothing half is left" {
  touch away
  for name in mxnet tensorflow paddle; do
    split example_sh $name
    is "$status" 77
    has "$err" "No matching distribution"
    has "$err" "skipped: $name cannot be had"
    DL_REQUIRE=1 split example_sh $name
    is "$status" 1
    has "$err" "failed: $name cannot be had"
  done
  is "$(find "ca che/frameworks" -mindepth 1 -printf '%P\n')" lock
  # What a killed one leaves is not taken for the whole.
  rm away
  mkdir -p "ca che/frameworks/paddle-3.3.1-py3.11.part/old"
  split example_sh --install paddle
  is "$status" 0
  is "$(cat "ca che/frameworks/paddle-3.3.1-py3.11/"*)" paddlepaddle==3.3.1
}

@test "a name that is none is a usage error, and installs nothing" {
  for name in '' caffe ../mxnet; do
    split example_sh $name
    is "$status" 2
    has "$err" usage
  done
  [ ! -e installed ]
}
