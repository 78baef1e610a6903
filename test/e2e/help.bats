#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# What help texts, the manual and the pages tell people to type can be typed: options and fields exist.
load helpers

bats_require_minimum_version 1.5.0

# Jobs with the lists and maps of roles that the texts speak of.
manifests() {
  mkdir jobs
  tfjob it 1 >jobs/list.yaml
  # The same with the worker first, whose number may be changed.
  {
    sed '/tfReplicaType/,$d' jobs/list.yaml
    sed -n '/WORKER/,$p' jobs/list.yaml
    sed -n '/MASTER/,/template/p' jobs/list.yaml
  } >jobs/worker-first.yaml
  trainers it true >jobs/map.yaml
  dljob run -o yaml -n 2 -- python train.py >jobs/command.yaml 2>/dev/null
}

# accepted PATH=VALUE: by one of them at least, as a field that is known.
accepted() {
  local file
  for file in jobs/*.yaml; do
    split dljob submit --dry-run --set "$1" "$file"
    case $status$err in
    0*"unknown field"*) ;;
    0*) return ;;
    esac
  done
  echo "no job has this field: $1"
  return 1
}

# helps: what all commands say of themselves, and the manual.
helps() {
  for c in $(dljob --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do dljob "$c" --help; done
  dljob help --man
}

@test "each field that a --set in a text sets exists" {
  manifests
  { helps; cat "$root"/README.md "$root"/docs/{commands,local}.md; } |
    grep -oE "spec\.[][A-Za-z0-9.]+=[A-Za-z0-9]+" | sort -u >fields
  # One that is not there is found.
  run ! accepted spec.policy.restarts.limit=3
  while read -r field; do accepted "$field"; done <fields
  for one in spec.policy.restart.limit=3 'spec.replicaSpecs[0].replicas=3'; do has "$(cat fields)" "$one"; done
}

@test "each example of a --help has options that its command has" {
  n=0
  for c in $(dljob --help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do
    dljob "$c" --help | sed -n '/^Example:/,$s/^  //p' >example
    [ -s example ]
    # Each part that calls us, with --help before what is no option of ours.
    sed 's/ && /\n/g; s/ | /\n/g; s/^source <(\(.*\))$/\1/' example | grep '^dljob ' >parts
    while read -r part; do
      n=$((n + 1))
      case $part in
      *' -- '*) asked="${part%% -- *} --help -- ${part#* -- }" ;;
      *) asked="$part --help" ;;
      esac
      echo "$asked"
      eval "$asked" >out
      has "$(head -n 1 out)" "usage: dljob"
    done <parts
  done
  [ "$n" -ge 20 ]
}

@test "the examples that need no cluster do what they say" {
  example() { dljob "$1" --help | sed -n '/^Example:/,$s/^  dljob //p'; }
  # with EXAMPLE OPTION: run with that option.
  with() { eval "dljob ${1/ / $2 }"; }
  with "$(example run)" '-o yaml' >command.yaml 2>err
  split dljob validate command.yaml
  is "$status" 0
  with "$(example init)" '' >err 2>&1
  split dljob validate job.yaml
  is "$status" 0
  with "$(example submit)" --dry-run >out.yaml
  has "$(cat out.yaml)" "-lr3"
  is "$(with "$(example render)" '')" "$(dljob render -o json job.yaml | jq -r '.items[].metadata.name')"
  (cd "$root" && with "$(example validate)" '') >validated
  has "$(tail -n 1 validated)" "files: valid"
  has "$(dljob __complete -- list --state "" | paste -s -d ' ')" "$(example list | sed 's/.*--state //')"
}
