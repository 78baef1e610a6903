#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031,SC2317,SC2016 # the helpers set what is read here; scripts are of others
# TensorBoard on this machine: beside `dljob run`, and in the local cluster. The program is one that only serves a page.
bats_require_minimum_version 1.5.0
load helpers
load local-cluster

teardown() {
  kill_started
  rm -rf "${theirs:-}"
  if [ -d home ]; then dljob local down --now >/dev/null 2>&1 || true; fi
}

# install_board: a tensorboard that shows what the training wrote, in ./bin, which comes first in PATH.
install_board() {
  mkdir -p bin logs
  cat >bin/tensorboard <<'PY'
#!/usr/bin/python3
import http.server, os, sys

flags = dict(zip(sys.argv[1::2], sys.argv[2::2]))


class Curves(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = open(os.path.join(flags["--logdir"], "events")).read().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        pass


http.server.HTTPServer((flags["--host"], int(flags["--port"])), Curves).serve_forever()
PY
  chmod 755 bin/tensorboard
  export PATH=$PWD/bin:$PATH
}

# curves NAME [lines of tensorboard]: a job that writes its events, and ends when ./go is there.
curves() {
  trainers "$1" "echo curve >$PWD/logs/events; until [ -e $PWD/go ]; do sleep 0.05; done" 1 \
    "  policy: {tensorboard: {logDir: $PWD/logs${2:-}}}"
}

# begin [options]: dljob run in the background.
begin() {
  "$DLJOB" run "$@" job.yaml >out 2>err 3>&- &
  echo $! >run.pid
}

address() { sed -n 's/^dljob: tensorboard: //p' err; }
has_address() { [ -n "$(address)" ]; }
page() { curl -sS -m 60 "$1"; }

# finish: the job ends, and TensorBoard with it.
finish() {
  local where status=0
  where=$(address)
  touch go
  wait "$(cat run.pid)" || status=$?
  is "$status" 0
  has "$(cat err)" "Succeeded"
  run ! page "$where"
}

@test "dljob run shows its address, once it answers" {
  install_board
  curves it >job.yaml
  begin
  eventually 60 has_address
  case $(address) in http://127.0.0.1:*/) ;; *) false ;; esac
  is "$(page "$(address)")" "curve"
  is "$(address | wc -l)" 1
  finish
}

@test "the same on the machine's own network, and two at once" {
  install_board
  curves it >job.yaml
  mkdir other
  (cd other && cp ../job.yaml . && begin --host-network)
  cp other/run.pid other.pid
  begin --host-network
  eventually 60 has_address
  other_has() { grep -q '^dljob: tensorboard: ' other/err; }
  eventually 60 other_has
  is "$(page "$(address)")" "curve"
  [ "$(address)" != "$(sed -n 's/^dljob: tensorboard: //p' other/err)" ]
  finish
}

@test "as an ordinary user" {
  if [ "$(id -u)" != 0 ]; then skip "only root can become another"; fi
  # The tests' own folder is only for whoever runs them.
  theirs=$(mktemp -d)
  cd "$theirs"
  install_board
  curves it >job.yaml
  chmod 777 . logs
  TMPDIR=$PWD setpriv --reuid=65534 --regid=65534 --clear-groups "$DLJOB" run job.yaml >out 2>err 3>&- &
  echo $! >run.pid
  cp run.pid "$BATS_TEST_TMPDIR"
  eventually 60 has_address
  is "$(page "$(address)")" "curve"
  finish
}

@test "where it is not installed there is one note, and the job runs" {
  mkdir logs
  touch go
  curves it >job.yaml
  status=0
  PATH=/nowhere "$DLJOB" run --env PATH=/nowhere:/usr/bin:/bin job.yaml >out 2>err || status=$?
  is "$status" 0
  is "$(grep -c 'note: tensorboard is not installed on this machine; pip install tensorboard' err)" 1
  has "$(cat err)" "Succeeded"
  is "$(cat logs/events)" "curve"
}

@test "in the local cluster it outlives the job by its own time, and is found again after a crash" {
  install_board
  up
  curves it ", ttlSecondsAfterFinished: 5" | submit
  said() { api "$jobs/it" | jq -er .status.dlOperator.tensorboard; }
  eventually 60 said
  where=$(said)
  is "$(page "$where")" "curve"
  has "$(dljob get --local it)" "tensorboard: $where"
  kill_cluster
  is "$(page "$where")" "curve"
  up
  is "$(said)" "$where"
  touch go
  ended it Succeeded
  board_is_gone() { is "$(api "$pods" | jq -r '.items[].metadata.name | select(test("tensorboard"))')" ""; }
  eventually 60 board_is_gone
  run ! page "$where"
  not_said() { run ! said; }
  eventually 60 not_said
  phase_is it Succeeded
}

@test "one that fails is started again and counts for nothing" {
  mkdir -p bin logs
  printf '#!/bin/sh\necho cannot find $2; exit 3\n' >bin/tensorboard
  chmod 755 bin/tensorboard
  export PATH=$PWD/bin:$PATH
  curves it >job.yaml
  begin
  restarted() { [ "$(grep -c '^tensorboard-0 | cannot find /' out)" -ge 2 ]; }
  eventually 60 restarted
  touch go
  status=0
  wait "$(cat run.pid)" || status=$?
  is "$status" 0
  has "$(cat err)" "Succeeded"
  has_not "$(tail -1 err)" "restart"
}

@test "it keeps no place for a job that is suspended" {
  install_board
  up
  cpus=$(api /api/v1/nodes | jq -r '.items[0].status.allocatable.cpu')
  whole="            resources: {requests: {cpu: \"$cpus\"}}"
  trainers first "echo curve >$PWD/logs/events; sleep 1000" 1 \
    "  policy: {tensorboard: {logDir: $PWD/logs}}" "$whole" | submit
  eventually 60 phase_is first Running
  said() { api "$jobs/first" | jq -er .status.dlOperator.tensorboard; }
  eventually 60 said
  dljob suspend --local first
  eventually 60 phase_is first Suspended
  trainers second "sleep 1000" 1 "" "$whole" | submit
  eventually 60 phase_is second Running
  dljob resume --local first
  waits() { has "$(api "$jobs/first" | jq -r .status.dlOperator.reason)" "waiting for trainer-0 to be scheduled"; }
  eventually 60 waits
  is "$(page "$(said)")" "curve"
  dljob delete --local second
  eventually 60 phase_is first Running
}
