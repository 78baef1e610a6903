#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# dljob itself: help, wrong usage, output that cannot be written.
load helpers

commands="run init local list get logs exec cp port-forward top wait submit rerun scale suspend
  resume delete render validate kinds crds completion version help"

@test "without arguments: the list of commands on standard error, exit 2" {
  split dljob
  is "$status" 2
  is "$out" ""
  for c in $commands; do has "$err" "  $c "; done
}

@test "--help and help: the list of commands, exit 0" {
  split dljob --help
  is "$status" 0
  for c in $commands; do has "$out" "  $c "; done
  is "$(dljob help)" "$out"
  is "$(dljob -h)" "$out"
}

@test "every command has --help with usage and example" {
  for c in $commands; do
    split dljob "$c" --help
    is "$status" 0
    has "$out" "usage: dljob $c"
    has "$out" "Example:"
    has "$out" "--kinds-dir DIR"
    is "$(dljob help "$c")" "$out"
  done
}

@test "no line of any help is wider than 100 columns" {
  for c in $commands; do dljob "$c" --help; done >all
  dljob --help >>all
  is "$(LC_ALL=C.UTF-8 awk 'length > 100' all)" ""
}

@test "version" {
  split dljob version
  is "$status" 0
  [[ $out =~ ^dljob\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
  is "$(dljob --version)" "$out"
}

@test "an unknown command is named, with the nearest, exit 2" {
  split dljob rendr
  is "$status" 2
  is "$err" "dljob: unknown command 'rendr'; did you mean 'render'? (try 'dljob --help')"
  split dljob explode
  is "$status" 2
  is "$err" "dljob: unknown command 'explode' (try 'dljob --help')"
}

@test "words of other tools lead to the right command, exit 2" {
  for pair in stop:suspend ps:list status:"get NAME" describe:"get NAME"; do
    split dljob "${pair%%:*}" demo
    is "$status" 2
    has "$err" "unknown command '${pair%%:*}': "
    has "$err" "'${pair#*:}'"
  done
  split dljob help explode
  is "$status" 2
}

@test "an unknown option is named, with the nearest, exit 2" {
  split dljob render --rol x file
  is "$status" 2
  is "$err" "dljob render: unknown option --rol; did you mean --role? (try 'dljob render --help')"
  split dljob kinds -x
  is "$status" 2
  is "$err" "dljob kinds: unknown option -x (try 'dljob kinds --help')"
  split dljob --nonsense kinds
  is "$status" 2
}

@test "arguments that are missing or too many, exit 2" {
  for args in render validate "kinds more" "version more" "help render kinds" "render -o" "render --index"; do
    # shellcheck disable=SC2086
    split dljob $args
    is "$status" 2
    is "$out" ""
    has "$err" "--help"
    is "$(wc -l <stderr)" 1
  done
}

@test "an output format that is none, exit 2" {
  split dljob crds -o xml
  is "$status" 2
  is "$err" "dljob crds: -o is yaml or json, not 'xml' (try 'dljob crds --help')"
}

@test "output to a full disk is noticed, exit 1" {
  for args in "kinds" "crds" "crds -o json" "version" "--help" "help render" \
    "render $root/examples/mlkube-tfjob/distributed.yaml" \
    "render --env $root/examples/mlkube-tfjob/distributed.yaml" \
    "validate $root/examples/mlkube-tfjob/distributed.yaml"; do
    status=0
    # shellcheck disable=SC2086
    "$DLJOB" $args >/dev/full 2>err || status=$?
    is "$status" 1
    is "$(cat err)" "dljob: cannot write to standard output: No space left on device"
  done
}

@test "a standard output that is closed is noticed, exit 1" {
  status=0
  "$DLJOB" kinds >&- 2>err || status=$?
  is "$status" 1
  has "$(cat err)" "cannot write to standard output"
}

@test "a reader that goes away ends a long output early and quietly, exit 1" {
  tfjob large 900 >large.yaml
  # With SIGPIPE ignored, as many programs start their children, the write fails.
  (
    trap '' PIPE
    "$DLJOB" render large.yaml 2>err || echo $? >rc
  ) | head -n 1 >first
  is "$(cat rc)" 1
  is "$(cat err)" ""
}

@test "no colours where there is no terminal" {
  echo 'a: [' >bad.yaml
  split dljob validate bad.yaml
  is "$status" 2
  has_not "$out" $'\033'
}

@test "colours on a terminal, but not with NO_COLOR" {
  command -v script >/dev/null || skip "there is no script(1)"
  echo 'a: [' >bad.yaml
  script -qec "$DLJOB validate bad.yaml" /dev/null >terminal </dev/null || true
  has "$(cat terminal)" $'\033[1;31merror:\033[0m'
  NO_COLOR=1 script -qec "$DLJOB validate bad.yaml" /dev/null >terminal </dev/null || true
  has_not "$(cat terminal)" $'\033'
}
