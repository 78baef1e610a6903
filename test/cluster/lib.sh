# shellcheck shell=bash
# What `up` and `down` share: where things lie in a cluster's folder, and how its processes are started,
# watched and stopped.
#
#   DIR/kubeconfig      for the administrator
#   DIR/audit.log       every request that the API server answered, a JSON object a line
#   DIR/log/NAME.log    what each component says
#   DIR/start/NAME      the command that starts it, for those who want to start it by hand
#   DIR/run/NAME.pid    its process id and start time
#   DIR/pki, DIR/etcd   keys and data
#   DIR/node, DIR/proc  where a real node mounts its own files and this machine's /proc; empty from outside
#   DIR/.cluster        says that the folder is ours to clean

# In the order in which they are stopped: who watches goes before who is watched, for an API server waits
# for its clients. With `node`, the first process of its namespaces, all that runs on the node ends.
# shellcheck disable=SC2034 # for those who read this file
components=(kwok node kubelet kube-proxy coredns containerd kube-scheduler kube-controller-manager kube-apiserver etcd)

say() { echo "cluster: $*" >&2; }

# started PID: when that process was started, in ticks since boot; fails if it is gone or a zombie.
started() {
  local stat
  stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
  # The command's name, in parentheses, may hold blanks.
  # shellcheck disable=SC2086 # numbers
  set -- ${stat##*) }
  [ "$1" != Z ] && echo "${20}"
}

# pid_of DIR NAME: the process id, if that very process is there: another one may have got its number.
pid_of() {
  local pid start
  read -r pid start 2>/dev/null <"$1/run/$2.pid" && [ -n "$start" ] && [ "$(started "$pid")" = "$start" ] && echo "$pid"
}

# in_node DIR COMMAND…: as if on the real node, as root there.
in_node() {
  local pid
  pid=$(pid_of "$1" node) || { say "there is no node in $1"; return 1; }
  shift
  nsenter --target "$pid" --pid --mount --net "$@"
}

# start_component DIR NAME: in a session of its own, so that no signal of the caller's terminal reaches
# it. It writes its own pid before it becomes the program: whenever the caller is killed, `down` finds it.
start_component() {
  local enter=() proc=/proc pid i
  case $2 in
  node) enter=(unshare --pid --fork --mount --net) ;;
  containerd | kubelet | kube-proxy | coredns)
    pid=$(pid_of "$1" node) || { say "$2 needs the node, which is gone"; return 1; }
    # There a process has another number; this machine's /proc tells the one that we know it by.
    enter=(nsenter --target "$pid" --pid --mount --net) proc=$1/proc
    ;;
  esac
  rm -f "$1/run/$2.pid"
  # shellcheck disable=SC2016 # expanded by the shells that are started
  setsid bash -c '
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      [ "$fd" -le 2 ] || eval "exec $fd>&-"
    done
    exec "$@"
  ' start "${enter[@]}" bash -c '
    read -r stat <"$3/self/stat"
    set -- "$1" "$2" "${stat%% *}" ${stat##*) }
    echo "$3 ${23}" >"$1/run/$2.pid"
    exec "$1/start/$2"
  ' start "$1" "$2" "$proc" </dev/null >>"$1/log/$2.log" 2>&1 &
  # Or this shell would tell how it ended.
  disown
  for ((i = 0; i < 1000; i++)); do
    [ ! -s "$1/run/$2.pid" ] || return 0
    sleep 0.01
  done
  say "$2 cannot be started"
  return 1
}

# stop_component DIR NAME SECONDS: SIGTERM, and SIGKILL when the time is over.
stop_component() {
  local pid end
  if pid=$(pid_of "$1" "$2"); then
    end=$(($(date +%s%3N) + $3 * 1000))
    kill "$pid" 2>/dev/null || true
    while [ -n "$(pid_of "$1" "$2")" ]; do
      if [ "$(date +%s%3N)" -ge "$end" ]; then
        kill -KILL "$pid" 2>/dev/null || true
        end=$((end + 60000))
      fi
      sleep 0.02
    done
  fi
  rm -f "$1/run/$2.pid"
}

# wait_for DIR NAME SECONDS COMMAND…: until the command succeeds. Fails, with the end of its log, when
# the component ends before or the time is over.
wait_for() {
  local dir=$1 name=$2 end=$(($(date +%s) + $3)) why=
  shift 3
  until "$@" >/dev/null 2>&1; do
    if [ -z "$(pid_of "$dir" "$name")" ]; then
      why="$name has ended"
    elif [ "$(date +%s)" -ge "$end" ]; then
      why="$name is not ready in time"
    fi
    if [ -n "$why" ]; then
      say "$why; the end of its log:"
      tail -n 20 "$dir/log/$name.log" >&2
      return 1
    fi
    sleep 0.05
  done
}
