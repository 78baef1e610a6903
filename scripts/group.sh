# shellcheck shell=bash
# For scripts that run others: what they start ends with them. To be sourced.
#
# The command gets a process group of its own, since some (`timeout`) make one anyway, and Ctrl-C would reach only half.
# Whoever ends the script (Ctrl-C, SIGTERM, SIGHUP) ends the command first; the status is 130 then.
group=

# in_group COMMAND…: runs it and waits; returns its status.
in_group() {
  local status=0
  # A job of its own has a group, and does not ignore SIGINT.
  set -m
  "$@" &
  group=$!
  set +m
  wait "$group" || status=$?
  group=
  return "$status"
}

# end_group: ends what runs in it. `timeout` hands SIGINT on, and bats cleans up behind its tests then; else the
# whole group gets SIGTERM. What is there after a minute is killed.
end_group() {
  local i
  [ -n "$group" ] || return 0
  if [ "$(cat "/proc/$group/comm")" = timeout ]; then
    kill -INT "$group" || true
  else
    kill -TERM -- "-$group" || true
  fi
  for ((i = 0; i < 600; i++)); do
    kill -0 -- "-$group" || break
    sleep 0.1
  done
  kill -KILL -- "-$group" || true
  group=
} 2>/dev/null

trap 'end_group; exit 130' INT TERM HUP
