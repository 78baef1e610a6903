#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set what is read here
# The API of the local cluster, over HTTPS: who is let in, what hostile peers can do, watches and logs. What kubectl
# makes of it is in test/cluster/local-api.bats.
load helpers
load local-api

teardown() {
  kill_started
}

@test "without the token everything is answered 401" {
  start_api
  for path in / /healthz /version /api /apis/mlkube.io/v1beta1/tfjobs /api/v1/pods '/api/v1/pods?watch=1' \
    /nothing /..; do
    out=$(anybody "$path")
    is "$(code "$out")" 401
    is "$(body "$out" | jq -r '.kind + " " + .reason')" "Status Unauthorized"
  done
  token=$(cat api/token)
  for header in "Bearer" "Bearer x" "Bearer ${token%?}" "Bearer ${token}0" "Basic $token" "$token"; do
    is "$(code "$(anybody /version -H "Authorization: $header")")" 401
  done
  is "$(code "$(anybody /api/v1/namespaces -X POST -d '{"metadata":{"name":"x"}}')")" 401
  is "$(code "$(anybody "/version?token=$token")")" 401
  is "$(code "$(api /version)")" 200
}

@test "its files are for the owner only, whatever the umask, and it listens on loopback only" {
  umask 0
  start_api
  is "$(stat -c %a api)" 700
  for f in api/*; do
    is "$(stat -c %a "$f") $f" "600 $f"
  done
  port=$(printf %04X "$(cat api/port)")
  # Local addresses of sockets that listen (0A) on this port.
  is "$(awk -v p=":$port" '$4 == "0A" && $2 ~ p { print $2 }' /proc/net/tcp)" "0100007F:$port"
  [ ! -e /proc/net/tcp6 ] || is "$(awk -v p=":$port" '$4 == "0A" && $2 ~ p { print $2 }' /proc/net/tcp6)" ""
}

# A port that no outgoing connection takes in the meantime.
quiet_port() {
  /usr/bin/python3 -c '
import random, socket
while True:
    s = socket.socket()
    try:
        s.bind(("127.0.0.1", random.randrange(10000, 20000)))
        print(s.getsockname()[1])
        break
    except OSError:
        pass'
}

@test "its identity and port outlive it; where the port is taken it finds another" {
  mkdir -m 700 api
  (umask 077 && quiet_port >api/port)
  port=$(cat api/port)
  start_api
  is "$(cat api/port)" "$port"
  before=$(cat api/kubeconfig)
  stop_api
  start_api
  is "$(cat api/kubeconfig)" "$before"
  mkdir second
  cp -r api second/
  (cd second && start_api && is "$(code "$(api /version)")" 200 && [ "$(cat api/port)" != "$port" ] && stop_api)
  is "$(code "$(api /version)")" 200
  stop_api
}

@test "TLS 1.1 is refused, 1.2 and 1.3 are not" {
  start_api
  is "$(code "$(api /version --tlsv1.2 --tls-max 1.2)")" 200
  is "$(code "$(api /version --tlsv1.3)")" 200
  run curl -s -m 60 --cacert api/ca.pem --tlsv1.0 --tls-max 1.1 --ciphers 'DEFAULT@SECLEVEL=0' "$api_url/version"
  [ "$status" -ne 0 ]
}

@test "objects are made, shown, changed and deleted" {
  start_api
  out=$(send POST /api/v1/namespaces/default/configmaps '{"metadata":{"name":"c"},"data":{"a":"b"}}')
  is "$(code "$out")" 201
  is "$(body "$(api /api/v1/namespaces/default/configmaps/c)" | jq -r .data.a)" b
  out=$(api /api/v1/namespaces/default/configmaps/c -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"data":{"a":"c"}}')
  is "$(code "$out") $(body "$out" | jq -r .data.a)" "200 c"
  is "$(code "$(send POST '/api/v1/namespaces/default/configmaps?dryRun=All' '{"metadata":{"name":"d"}}')")" 201
  is "$(code "$(api /api/v1/namespaces/default/configmaps/d)")" 404
  is "$(code "$(send POST /api/v1/namespaces/default/configmaps 'no json')")" 400
  is "$(code "$(api /api/v1/namespaces/default/configmaps/c -X DELETE)")" 200
  is "$(code "$(api /api/v1/namespaces/default/configmaps/c)")" 404
  is "$(code "$(api /api/v1/pods -H 'Accept: application/vnd.kubernetes.protobuf')")" 406
  is "$(code "$(api '/api/v1/pods?resourceVersion=999999')")" 504
  is "$(code "$(api '/api/v1/pods?resourceVersion=1&resourceVersionMatch=Exact')")" 410
}

@test "a body of more than 3 MiB is refused, announced or not" {
  start_api
  head -c 3145729 /dev/zero | tr '\0' ' ' >large
  url=/api/v1/namespaces/default/configmaps
  out=$(api $url -X POST -H 'Content-Type: application/json' -H 'Expect:' --data-binary @large)
  is "$(code "$out")" 413
  out=$(api $url -X POST -H 'Content-Type: application/json' -H 'Expect:' -H 'Transfer-Encoding: chunked' \
    --data-binary @large)
  is "$(code "$out") $(body "$out" | jq -r .reason)" "413 RequestEntityTooLarge"
  # One byte less is read, and is no JSON.
  head -c 3145728 large >fits
  out=$(api $url -X POST -H 'Content-Type: application/json' --data-binary @fits)
  is "$(code "$out")" 400
}

# table PATH: the cells of the first row.
table() {
  body "$(api "$1" -H 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io,application/json')" |
    jq -c '.kind, [.columnDefinitions[].name], .rows[0].cells, .rows[0].object.metadata.name'
}

@test "tables have the columns of the definitions" {
  start_api
  tfjob one 2 | yaml_to_json | jq -c '.[0]' >job.json
  is "$(code "$(send POST /apis/mlkube.io/v1beta1/namespaces/default/tfjobs "$(cat job.json)")")" 201
  out=$(table /apis/mlkube.io/v1beta1/tfjobs)
  has "$out" '"Table"'
  has "$out" '["Name","State","Reason","Pods","Restarts","Age"]'
  has "$out" '["one",null,null,null,null,"'
  make_pod p >/dev/null
  has "$(table /api/v1/namespaces/default/pods/p)" '["p","0/1","Pending","0","'
}

@test "a watch tells what happens, and ends when it is time" {
  start_api
  from=$(body "$(api /api/v1/pods)" | jq -r .metadata.resourceVersion)
  api "/api/v1/pods?watch=1&timeoutSeconds=3&allowWatchBookmarks=true&resourceVersion=$from" -N >seen &
  make_pod a >/dev/null
  api /api/v1/namespaces/default/pods/a -X DELETE >/dev/null
  eventually 60 grep -q DELETED seen
  wait $!
  is "$(sed '/^{/!d' seen | jq -r '.type + " " + .object.metadata.name' | sort | tr '\n' ,)" 'ADDED a,DELETED a,'
  is "$(code "$(cat seen)")" 200
}

@test "a watch from too long ago is told so; the first states come before a bookmark if asked for" {
  start_api
  out=$(api '/api/v1/pods?watch=1&resourceVersion=99999')
  is "$(body "$out" | jq -c '[.type, .object.code, .object.reason]')" '["ERROR",410,"Expired"]'
  make_pod a >/dev/null
  out=$(api '/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1&'\
'allowWatchBookmarks=true')
  is "$(body "$out" | jq -r '.type + " " + (.object.metadata.annotations["k8s.io/initial-events-end"] // "")')" \
    $'ADDED \nBOOKMARK true'
  is "$(code "$(api '/api/v1/pods?watch=1&labelSelector=%21%21')")" 200
}

@test "logs: all, the last lines, with times, since, the one before, and followed to the end" {
  start_api
  uid=$(make_pod p)
  log=/api/v1/namespaces/default/pods/p/log
  is "$(code "$(api $log)")" 400
  has "$(body "$(api $log)")" 'is waiting to start'
  dir=api/pods/$uid/logs/c
  mkdir -p "$dir"
  echo '2026-01-02T03:04:00.678901234Z stdout F old' >"$dir/0.log"
  for i in 1 2 3; do
    echo "2026-01-02T03:04:0$i.678901234Z stdout F line $i"
  done >"$dir/1.log"
  is "$(body "$(api $log)")" $'line 1\nline 2\nline 3'
  is "$(body "$(api "$log?tailLines=1")")" 'line 3'
  is "$(body "$(api "$log?tailLines=0")")" ''
  is "$(body "$(api "$log?sinceTime=2026-01-02T03:04:03Z&timestamps=true")")" '2026-01-02T03:04:03.678901234Z line 3'
  is "$(body "$(api "$log?previous=true")")" old
  is "$(body "$(api "$log?limitBytes=9")")" $'line 1\nli'
  is "$(code "$(api "$log?container=..%2F..")")" 400
  is "$(code "$(api "$log?container=d")")" 400

  api "$log?follow=true&tailLines=1" -N >followed &
  eventually 60 grep -q 'line 3' followed
  echo '2026-01-02T03:04:05.678901234Z stdout F line 4' >>"$dir/1.log"
  eventually 60 grep -q 'line 4' followed
  echo '2026-01-02T03:04:05.678901234Z stdout F line 5' >>"$dir/1.log"
  api /api/v1/namespaces/default/pods/p/status -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{"status":{"containerStatuses":[{"name":"c","restartCount":1,"state":{"terminated":{"exitCode":0}}}]}}' >end
  wait $!
  is "$(body "$(cat followed)")" $'line 3\nline 4\nline 5'
}

@test "logs of pods that are gone: the last of that name and namespace, the one before it, and who asks" {
  start_api
  log=/api/v1/namespaces/default/pods/p/log
  is "$(code "$(api $log)")" 404
  # line FOLDER RUN TEXT
  line() {
    mkdir -p "api/$1/logs/c"
    echo "2026-01-02T03:04:00.678901234Z stdout F $3" >"api/$1/logs/c/$2.log"
  }
  line kept/default/p/0 0 newest
  is "$(body "$(api $log)")" newest
  is "$(body "$(api "$log?follow=true&container=c&timestamps=true")")" '2026-01-02T03:04:00.678901234Z newest'
  is "$(code "$(api "$log?previous=true")")" 400
  is "$(code "$(anybody $log)")" 401
  is "$(code "$(api /api/v1/namespaces/other/pods/p/log)")" 404
  for c in d ..%2Fc ..%2F..%2F0%2Flogs%2Fc; do
    is "$(code "$(api "$log?container=$c")")" 400
  done
  line kept/default/p/1 0 older
  is "$(body "$(api "$log?previous=true")")" older
  line kept/default/p/0 1 'second run'
  is "$(body "$(api $log)")" 'second run'
  is "$(body "$(api "$log?previous=true")")" newest
  mkdir api/kept/default/p/0/logs/b
  has "$(body "$(api $log)")" 'choose one of: ['
  is "$(body "$(api "$log?container=c")")" 'second run'

  # With a pod of that name they are those before it.
  uid=$(make_pod p)
  has "$(body "$(api $log)")" 'is waiting to start'
  is "$(body "$(api "$log?previous=true")")" 'second run'
  line "pods/$uid" 0 now
  is "$(body "$(api $log)")" now
  is "$(body "$(api "$log?previous=true")")" 'second run'
  line "pods/$uid" 1 'now again'
  is "$(body "$(api "$log?previous=true")")" now
}

@test "a log of many megabytes comes whole" {
  start_api
  dir=api/pods/$(make_pod p)/logs/c
  mkdir -p "$dir"
  awk 'BEGIN { for (i = 0; i < 200000; i++) print "2026-01-02T03:04:00.678901234Z stdout F line number " i }' \
    >"$dir/0.log"
  api /api/v1/namespaces/default/pods/p/log >got
  is "$(grep -c line got)" 200000
  is "$(sed -n 200000p got)" 'line number 199999'
}

@test "an eviction deletes the pod, and says first that it is one" {
  start_api
  make_pod p >/dev/null
  pod=/api/v1/namespaces/default/pods/p
  out=$(send POST $pod/eviction '{"deleteOptions":{"dryRun":["All"]}}')
  is "$(code "$out") $(body "$out" | jq -r .status)" "201 Success"
  is "$(body "$(api $pod)" | jq -c '.metadata.deletionTimestamp, .status.conditions')" "null
null"
  # One that is refused leaves no mark.
  is "$(code "$(send POST $pod/eviction '{"deleteOptions":{"gracePeriodSeconds":"1"}}')")" 422
  is "$(body "$(api $pod)" | jq -c '.metadata.deletionTimestamp, .status.conditions')" "null
null"
  api $pod -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"finalizers":["test/stays"]}}' \
    >/dev/null
  out=$(send POST $pod/eviction '{"apiVersion":"policy/v1","kind":"Eviction","deleteOptions":{}}')
  is "$(code "$out") $(body "$out" | jq -r .status)" "201 Success"
  is "$(body "$(api $pod)" | jq -r '.metadata.deletionTimestamp != null, .status.conditions[].reason')" "true
EvictionByEvictionAPI"
  is "$(code "$(send POST $pod/eviction '[]')")" 400
  is "$(code "$(send POST ${pod}x/eviction '{}')")" 404
  is "$(code "$(api $pod/eviction)")" 405
}

@test "what kubectl asks for before it says that a kind is unknown" {
  start_api
  v2=application/com.github.proto-openapi.spec.v2
  out=$(api /openapi/v2 -H "Accept: $v2@v1.0+protobuf" -o v2 -w '%{http_code} %{content_type}')
  has "$out" "200 $v2.v1.0+protobuf"
  # swagger, info and paths: fields 1, 2 and 8.
  is "$(od -An -tx1 v2 | tr -d ' \n')" 0a03322e3012110a0b646c6a6f62206c6f63616c120276314200
  is "$(code "$(api /openapi/v2)")" 404
  is "$(code "$(api /apis/kubeflow.org/v1)")" 404
}

@test "what is left out says so" {
  start_api
  make_pod p >/dev/null
  pod=/api/v1/namespaces/default/pods/p
  for sub in attach proxy; do
    out=$(api "$pod/$sub" -X POST)
    is "$(code "$out") $(body "$out" | jq -r .reason)" "405 MethodNotAllowed"
  done
  is "$(code "$(api $pod/scale)")" 404
  out=$(api $pod -X PATCH -H 'Content-Type: application/apply-patch+yaml' -d '{}')
  is "$(code "$out")" 415
  has "$out" 'no server-side apply'
}

@test "garbage, huge headers and connections that say nothing do not disturb the others" {
  start_api
  /usr/bin/python3 - "$(cat api/port)" <<'PY' &
import os, socket, ssl, sys, time
port = int(sys.argv[1])
held = []
def connect():
    s = socket.create_connection(("127.0.0.1", port), 10)
    held.append(s)
    return s
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
for i in range(400):
    s = connect()
    try:
        if i % 4 == 1:
            s.sendall(os.urandom(300))
        elif i % 4 == 2:
            # A handshake that stops in the middle.
            out = ssl.MemoryBIO()
            try:
                context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
            except ssl.SSLWantReadError:
                s.sendall(out.read())
        elif i % 20 == 3:
            t = context.wrap_socket(s)
            held.append(t)
            t.sendall(b"GET /version HTTP/1.1\r\n" + b"X: " + b"a" * 10000 + b"\r\n")
    except OSError:
        pass
open("held", "w").write("x")
time.sleep(60)
PY
  echo $! >hostile.pid
  eventually 60 test -s held
  for i in 1 2 3 4 5; do
    is "$(code "$(api /version)")" 200
  done
  kill "$(cat hostile.pid)"
  is "$(code "$(api /version -H "X: $(head -c 100000 /dev/zero | tr '\0' a)")")" 431
  is "$(code "$(api /version)")" 200
  stop_api
}

readers() { /usr/bin/python3 "$BATS_TEST_DIRNAME/local_api_readers.py" api "$1"; }
as_many_as_ever() { is "$(readers many)" "192 429 TooManyRequests"; }

@test "who does not read a watch is cut off, and costs little" {
  start_api
  got=$(readers slow)
  [ "$got" -lt 16000000 ]
  is "$(code "$(api /version)")" 200
  stop_api
}

@test "there are so many watches and no more; the others are served still" {
  start_api
  as_many_as_ever
  is "$(code "$(api /version)")" 200
  # Those who went make room.
  eventually 60 as_many_as_ever
  stop_api
}

# pods_are N, and phase_is PHASE of the job `one`
pods_are() { is "$(body "$(api /api/v1/pods)" | jq '.items | length')" "$1"; }
phase_is() {
  is "$(body "$(api /apis/mlkube.io/v1beta1/namespaces/default/tfjobs/one)" | jq -r .status.dlOperator.phase)" "$1"
}

@test "dl-operator serves the jobs of the store through it" {
  start_api
  "${DLJOB%/*}/dl-operator" --kubeconfig=api/kubeconfig --metrics-bind-address=127.0.0.1:0 \
    --health-probe-bind-address=127.0.0.1:0 >operator.log 2>&1 3>&- &
  echo $! >operator.pid
  tfjob one 2 | yaml_to_json | jq -c '.[0]' >job.json
  is "$(code "$(send POST /apis/mlkube.io/v1beta1/namespaces/default/tfjobs "$(cat job.json)")")" 201
  eventually 60 pods_are 3
  eventually 60 phase_is Pending
  pod=$(body "$(api /api/v1/pods)" | jq -r '.items[] | select(.metadata.labels["dl-operator.mpba.fbk.eu/role"]
    | ascii_downcase == "master") | .metadata.name')
  api "/api/v1/namespaces/default/pods/$pod/status" -X PATCH -H 'Content-Type: application/merge-patch+json' \
    -d '{
    "status":{"phase":"Succeeded",
    "containerStatuses":[{"name":"tensorflow","state":{"terminated":{"exitCode":0}}}]}}' >end
  eventually 60 phase_is Succeeded
  # Whoever waits for a watch of its does not hold it up.
  stop_api
}
