#!/bin/sh
# What a replica does in the tests on real nodes (node.bats), whatever its kind: it finds the others by its
# kind's variables, serves, greets those that serve, and ends well when all of its part is done. Runs under busybox.
set -eu
me=$(hostname)

# serve PORT: in the background, to all who greet.
serve() {
  nc -ll -p "$1" -e sh -c "read -r who && echo \"\$who\" >>/tmp/greeted && echo \"welcome \$who, says $me\"" &
}

# greet HOST:PORT: until that very replica has answered. Nobody may be there yet, nor the name.
greet() {
  replica=${1%%[.:]*}
  replica=${replica%-service}
  while :; do
    answer=$(echo "$me" | nc -w 5 "${1%:*}" "${1##*:}" 2>/dev/null) || answer=
    case $answer in
    "welcome $me, says $replica"*) break ;;
    "") sleep 0.2 ;;
    *)
      echo "$1: a wrong answer: $answer"
      exit 1
      ;;
    esac
  done
  echo "$1: $answer"
}

# greeted_by N: waits for so many.
greeted_by() {
  until [ "$(sort -u /tmp/greeted | wc -l)" -ge "$1" ]; do
    sleep 0.2
  done
  echo "greeted by $1"
}

# hosts TYPE: of that type in TF_CONFIG, a line each.
hosts() {
  echo "$TF_CONFIG" | grep -o "\"$1\": *\[[^]]*\]" | grep -oE '[a-z0-9.-]+:[0-9]+' || true
}

mxnet() {
  case $DMLC_ROLE in
  scheduler)
    serve "$DMLC_PS_ROOT_PORT"
    greeted_by $((DMLC_NUM_SERVER + DMLC_NUM_WORKER))
    ;;
  server)
    greet "$DMLC_PS_ROOT_URI:$DMLC_PS_ROOT_PORT"
    sleep infinity
    ;;
  worker)
    greet "$DMLC_PS_ROOT_URI:$DMLC_PS_ROOT_PORT"
    ;;
  esac
}

tensorflow() {
  task=$(echo "$TF_CONFIG" | sed 's/.*"task": *{"type": *"\([a-z]*\)", *"index": *\([0-9]*\).*/\1 \2/')
  type=${task% *} index=${task#* }
  own=$(hosts "$type" | sed -n "$((index + 1))p")
  serve "${own##*:}"
  if [ "$type" = ps ]; then
    sleep infinity
  fi
  for host in $(hosts ps; [ "$type" = master ] || hosts master); do
    greet "$host"
  done
  if [ "$type" = master ]; then
    greeted_by "$(hosts worker | wc -l)"
  fi
}

trainingjob() {
  # Every replica has a name, also one without ports.
  until ping -c 1 -W 1 "$TRAININGJOB_SERVICE.svc.cluster.local" 2>/dev/null | grep -q "($(hostname -i))"; do
    sleep 0.2
  done
  echo "$TRAININGJOB_SERVICE is me"
  for port in $(echo "$TRAININGJOB_PORTS" | tr , ' '); do
    serve "$port"
  done
  if [ "$TRAININGJOB_REPLICA_NAME" = pserver ]; then
    sleep infinity
  fi
  for host in $(echo "$PSERVER_HOSTS" | tr , ' '); do
    greet "$host"
  done
}

touch /tmp/greeted
case $(env | cut -d= -f1 | tr '\n' ' ') in
*TF_CONFIG*) tensorflow ;;
*DMLC_ROLE*) mxnet ;;
*TRAININGJOB_NAME*) trainingjob ;;
*)
  echo "no variables of any kind"
  exit 1
  ;;
esac
echo "all is done"
