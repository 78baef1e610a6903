#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2016 # helpers.bash sets root, out and err; scripts are for other shells
# scripts/fuzz.sh: which fuzzers run, for how long, and from what. A copy of it, with fuzzers that only say how they
# were called.
load helpers

setup() {
  cd "$BATS_TEST_TMPDIR" || return 1
  mkdir -p scripts bin test/fuzz build-fuzz/test/fuzz
  cp "$root/scripts/fuzz.sh" scripts/
  cp "$root"/test/fuzz/*_fuzz.c test/fuzz/
  touch build-fuzz/build.ninja
  printf '#!/bin/sh\necho "$*" >built\n' >bin/ninja
  chmod +x bin/ninja
  PATH=$PWD/bin:$PATH
  for f in test/fuzz/*_fuzz.c; do
    f=build-fuzz/${f%.c}
    printf '#!/bin/sh\necho "${0##*/} $*"\n' >"$f"
    chmod +x "$f"
  done
  options="-max_total_time=60 -max_len=4096 -timeout=10 -artifact_prefix=build-fuzz/found/"
}

@test "all fuzzers, a minute each, from what they know" {
  split scripts/fuzz.sh
  is "$status" 0
  is "$(echo "$out" | sed 's/_fuzz .*//' | tr '\n' ' ')" \
    "accelerators api decode json kind kubeconfig store watch yaml "
  has "$out" "json_fuzz $options build-fuzz/found/json test/fuzz/corpus/json"$'\n'
  has "$out" "store_fuzz $options build-fuzz/found/store test/fuzz/corpus/store test/fuzz/corpus/object"$'\n'
  has "$out" "api_fuzz $options build-fuzz/found/api test/fuzz/corpus/api test/fuzz/corpus/object"$'\n'
}

@test "only some, and longer; the first find ends it" {
  split env FUZZ_SECONDS=3600 scripts/fuzz.sh store api
  is "$status" 0
  is "$(cat built)" "-C build-fuzz --quiet test/fuzz/store_fuzz test/fuzz/api_fuzz"
  is "$(echo "$out" | cut -d ' ' -f 1,2)" $'store_fuzz -max_total_time=3600\napi_fuzz -max_total_time=3600'
  printf '#!/bin/sh\nexit 77\n' >build-fuzz/test/fuzz/store_fuzz
  split scripts/fuzz.sh store api
  is "$status" 77
  is "$out" ""
  # Nothing is run by mistake.
  split scripts/fuzz.sh store stoer
  is "$status" 2
  is "$err" 'fuzz: there is no fuzzer "stoer"; there are: accelerators api decode json kind kubeconfig store watch yaml'
  split env FUZZ_SECONDS=1h scripts/fuzz.sh store
  is "$status" 2
  is "$err" 'fuzz: FUZZ_SECONDS must be a number, found "1h"'
}

@test "make fuzz hands FUZZERS and FUZZ_SECONDS on" {
  has "$(make -n -C "$root" fuzz FUZZERS="store api" FUZZ_SECONDS=5)" "FUZZ_SECONDS='5' scripts/fuzz.sh store api"
  has "$(make -n -C "$root" fuzz)" "FUZZ_SECONDS='60' scripts/fuzz.sh"
}
