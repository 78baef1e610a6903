# shellcheck shell=bash
# The API of the local cluster on a store in memory, for the bats files that ask it: start_api, then `api` or kubectl.
# shellcheck disable=SC2154 # DLJOB comes from helpers.bash

api_server=${DLJOB%/*}/src/local/api/local-api-server

# start_api: one for the test, in the folder ./api.
start_api() {
  rm -f api.out
  "$api_server" api >api.out 2>api.err 3>&- &
  echo $! >api.pid
  eventually 60 test -s api.out || { cat api.err; return 1; }
  api_url=https://127.0.0.1:$(cat api/port)
  echo "Authorization: Bearer $(cat api/token)" >api.header
  export KUBECONFIG=$PWD/api/kubeconfig KUBECACHEDIR=$PWD/kubectl-cache
}

# stop_api: with SIGTERM; fails if it does not end well.
stop_api() {
  kill "$(cat api.pid)"
  wait "$(cat api.pid)"
  rm api.pid
}

# anybody PATH [curl options]: without a token. Prints the body, and the status in a line of its own.
anybody() {
  local path=$1
  shift
  curl -sS -m 60 --cacert api/ca.pem -w '\n%{http_code}\n' "$@" "$api_url$path"
}

# api PATH [curl options]: with the token.
api() {
  anybody "$@" -H @api.header
}

# send METHOD PATH JSON [curl options]
send() {
  local method=$1 path=$2 body=$3
  shift 3
  printf %s "$body" | api "$path" -X "$method" -H 'Content-Type: application/json' --data-binary @- "$@"
}

# code TEXT: the last line of what anybody() printed.
code() { tail -n 1 <<<"$1"; }

# body TEXT: the rest.
body() { sed '$d' <<<"$1"; }

# make_pod NAME: with one container, c; prints its UID.
make_pod() {
  body "$(send POST /api/v1/namespaces/default/pods \
    '{"metadata":{"name":"'"$1"'"},"spec":{"containers":[{"name":"c","image":"i"}]}}')" | jq -r .metadata.uid
}
