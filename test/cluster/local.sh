# shellcheck shell=bash
# `dljob local` as the cluster of the tests: for setup_suite.bash, and for tests that kill it and start it again.
: "${DLJOB:=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)/build/dljob}"

# local_start DIR PID: up in that folder, with the one image of the real node; it ends when process PID does.
local_start() {
  mkdir -p "$1" "$1.image"
  export DLJOB_HOME=$1 LOCAL_IMAGE=$1.image
  "${BASH_SOURCE[0]%/*}/image.sh" localhost/busybox:test "$1.tar" || return 1
  tar -xOf "$1.tar" layer.tar | tar -x -C "$LOCAL_IMAGE" || return 1
  rm "$1.tar"
  # Whoever starts the tests may be killed: then nobody else would end it.
  # shellcheck disable=SC2016 # for that shell
  setsid bash -c 'while kill -0 "$1"; do sleep 1; done; "$2" local down --now' \
    guard "$2" "$DLJOB" </dev/null >/dev/null 2>&1 3>&- &
  LOCAL_GUARD=$!
  local_up
}

# local_up: up, or up again.
local_up() {
  "$DLJOB" local up --rootfs localhost/busybox:test="$LOCAL_IMAGE" 3>&-
}

# local_kill: as if by mischance. It is gone when this returns.
local_kill() {
  local pid
  pid=$("$DLJOB" local status | sed -n 's/.*, pid //p')
  kill -KILL "$pid"
  timeout 60 tail --pid="$pid" -s 0.05 -f /dev/null
}

# local_end: down; what it said stays in its folder, and nothing else.
local_end() {
  kill "$LOCAL_GUARD"
  "$DLJOB" local down --now
  find "$DLJOB_HOME" -mindepth 1 -maxdepth 1 ! -name 'log*' -exec rm -rf {} +
  rm -rf "$LOCAL_IMAGE"
}
