#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2317 # the helpers set what is read here, and call what is defined
# dljob logs --archive with a server that refuses, forgets and is slow.
load helpers
load archive-server

@test "a log that is not there, or may not be read, for a while" {
  two="$pods?label 200 [$(pod a 0),$(pod b 1)]"
  a="$pods/a/log 200 \"$(line 1)\""
  answers "$a" "$pods/b/log 404 \"404 page not found\"" "$pods/b 200 $(pod b 1)" "$two"
  serve
  keep --all -f
  eventually 120 asked "$pods/b/log" 2
  eventually 120 log_is 0 "line 1"
  answers "$a" "$pods/b/log 403 {\"kind\":\"Status\",\"message\":\"not now\"}" "$pods/b 200 $(pod b 1)" "$two"
  n=$(grep -c "^GET $pods/b/log" requests)
  eventually 120 asked "$pods/b/log" $((n + 2))
  is "$(cat keep.err)" "dljob logs: ml/b (main): reading its log is forbidden: not now"
  answers "$a" "$pods/b/log 200 \"$(line 2)\"" "$pods/b 200 $(pod b 1)" "$two"
  eventually 120 log_is 1 "line 2"
  kill -TERM "$(cat keep.pid)"
  kept
  is "$status" 0

  # Whose every log is refused may not read any.
  answers "$pods/a/log 403 {\"kind\":\"Status\",\"message\":\"not you\"}" "$pods?label 200 [$(pod a 0)]"
  split timeout 120 "$DLJOB" logs -q --archive other --all -f
  [ "$status" != 0 ] && [ "$status" != 124 ]
  has "$err" "not you"
}

@test "a container that restarts while its log is read" {
  again=$(jq -n -c --argjson pod "$(pod a 0 1)" '{type: "MODIFIED", object: $pod} | tojson + "\n"')
  list="$pods?label 200 [$(pod a 0)]"
  answers "$pods/a/log 200 {\"after\": \"go\", \"body\": \"$(line 1)\"}" "$pods/a 200 $(pod a 0)" "$list" \
    "$pods?watch=true 200 {\"after\": \"tell\", \"body\": $again}"
  serve
  keep --all -f
  eventually 120 asked "$pods/a/log" 1
  # The next watch begins when the event of the one before was taken.
  touch tell
  eventually 120 asked "$pods?watch=true" 2
  answers "$pods/a/log 200 \"$(line 1)$(line 2)\"" "$pods/a 200 $(pod a 0 1)" "$list"
  touch go
  eventually 120 log_is 0 "line 1,line 2"
  kill -TERM "$(cat keep.pid)"
  kept
  is "$status" 0
}
