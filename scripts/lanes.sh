# shellcheck shell=bash
# Steps of a long run, one after the other or side by side. To be sourced.
#
#   step COMMAND LINE            runs it now; its output is seen as it comes
#   lane COMMAND LINE…           remembers steps that are run one after the other, beside those of other lanes
#   run_lanes                    runs all of them; what a step writes is printed whole when it ends
#
# A step that fails names itself. Those that run then go on, no other begins, and the script ends with status 1. Whoever
# ends the script ends everything that it has started, also with SIGKILL: a guard does that.
# shellcheck source=scripts/group.sh
. "${BASH_SOURCE[0]%/*}/group.sh"

lanes_dir=$(mktemp -d)
lanes_begun=$SECONDS
lanes_n=0
lanes_pids=()
trap 'lanes_end; exit 130' INT TERM HUP
trap 'rm -rf "$lanes_dir"' EXIT

mkdir "$lanes_dir/groups" "$lanes_dir/lanes"
# The guard. What has a file in groups/ is a group that runs; lanes go first, or they would begin the next step.
# shellcheck disable=SC2016 # for that shell
setsid bash -c '
  while kill -0 "$1"; do sleep 1; [ -d "$2" ] || exit 0; done
  cd "$2" || exit 0
  for f in lanes/*; do kill -KILL "${f#lanes/}"; done
  for f in groups/*; do kill -TERM -- "-${f#groups/}"; done
  for i in {1..70}; do
    left=
    for f in groups/*; do ! kill -0 -- "-${f#groups/}" || left=yes; done
    [ -n "$left" ] || break
    sleep 1
  done
  for f in groups/*; do kill -KILL -- "-${f#groups/}"; done
  rm -rf "$2"
' guard $$ "$lanes_dir" </dev/null >/dev/null 2>&1 &
disown

since() {
  printf '%d:%02d' $(((SECONDS - lanes_begun) / 60)) $(((SECONDS - lanes_begun) % 60))
}

# known_group COMMAND LINE: runs it in a group that the guard knows.
known_group() {
  # shellcheck disable=SC2016
  in_group bash -c 'file=$1/groups/$$; trap '\''rm -f "$file"'\'' EXIT; touch "$file"; eval "$2"' step "$lanes_dir" "$1"
}

step() {
  echo "== $* [$(since)]"
  known_group "$*" || {
    echo "ci: failed: $*" >&2
    exit 1
  }
}

lane() {
  lanes_n=$((lanes_n + 1))
  printf '%s\n' "$@" >"$lanes_dir/lane.$lanes_n"
}

# say_whole TEXT [FILE]: one at a time.
say_whole() {
  {
    flock 9
    echo "$1"
    [ -z "${2:-}" ] || cat "$2"
  } 9>"$lanes_dir/lock"
}

# run_lane N: in a shell of its own.
run_lane() {
  local command out status failed begun n=0
  trap 'end_group; exit 130' TERM
  touch "$lanes_dir/lanes/$BASHPID"
  while read -r command <&8; do
    [ ! -e "$lanes_dir/failed" ] || break
    n=$((n + 1))
    out=$lanes_dir/out.$1.$n
    begun=$SECONDS
    status=0
    say_whole ".. $command [begins $(since)]"
    echo "$command" >"$out.runs"
    known_group "$command" >"$out" 2>&1 </dev/null || status=$?
    rm "$out.runs"
    failed=
    [ $status = 0 ] || {
      failed=yes
      echo "$command" >>"$lanes_dir/failed"
    }
    say_whole "== $command [$((SECONDS - begun)) s, ends $(since)${failed:+; FAILED, exit status $status}]" "$out"
  done 8<"$lanes_dir/lane.$1"
  rm -f "$lanes_dir/lanes/$BASHPID"
}

run_lanes() {
  local i
  for ((i = 1; i <= lanes_n; i++)); do
    run_lane "$i" &
    lanes_pids+=($!)
  done
  for i in "${lanes_pids[@]}"; do
    wait "$i" || echo "a lane, with exit status $?" >>"$lanes_dir/failed"
  done
  lanes_pids=()
  lanes_n=0
  [ ! -e "$lanes_dir/failed" ] || {
    sed 's/^/ci: failed: /' "$lanes_dir/failed" >&2
    exit 1
  }
}

# lanes_end: ends what runs, and shows how far it came.
lanes_end() {
  local pid f
  end_group
  for pid in "${lanes_pids[@]}"; do
    kill -TERM "$pid" 2>/dev/null || true
  done
  for pid in "${lanes_pids[@]}"; do
    wait "$pid" || true
  done
  for f in "$lanes_dir"/out.*.runs; do
    [ ! -e "$f" ] || say_whole "ci: was running: $(cat "$f")" <(tail -n 30 "${f%.runs}")
  done
}
