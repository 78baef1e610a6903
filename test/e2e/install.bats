#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# What `make install` puts below PREFIX, used from there; completion and manual pages.
load helpers

setup_file() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export DESTDIR=$BATS_FILE_TMPDIR PREFIX=/opt/dl
  BUILD=$(dirname "${DLJOB:-$root/build/dljob}") "$root/scripts/install.sh"
  export PATH=$DESTDIR$PREFIX/bin:$PATH
  # Nothing of the machine's own.
  export HOME=$BATS_FILE_TMPDIR/home KUBECONFIG=
  mkdir -p "$HOME"
}

@test "the programs run from there, without the checkout" {
  split env -C / dljob kinds
  is "$status" 0
  has "$out" "AITrainingJob"
  [[ $(dl-operator --version) == dl-operator\ * ]]
  is "$(cd "$DESTDIR$PREFIX/share/dl-operator/kinds" && echo *.lua lib/*)" "$(cd "$root/kinds" && echo *.lua lib/*)"
}

@test "kubectl dljob: help and errors say so" {
  split kubectl-dljob --help
  is "$status" 0
  has "$out" "usage: kubectl dljob COMMAND"
  split kubectl-dljob render --help
  has "$out" "usage: kubectl dljob render"
  has "$out" "  kubectl dljob render -o json"
  split kubectl-dljob frob
  is "$status" 2
  is "$err" "kubectl dljob: unknown command 'frob' (try 'kubectl dljob --help')"
}

@test "manual pages: every command and flag, and nothing for man to complain of" {
  man=$DESTDIR$PREFIX/share/man
  for c in $(dljob help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    has "$(cat "$man/man1/dljob.1")" ".SS \"dljob $c "
  done
  has "$(cat "$man/man8/dl-operator.8")" '\fB\-\-leader\-elect\-renew\-deadline\fR \fITIME\fR'
  command -v man >/dev/null || skip "there is no man here"
  for f in "$man/man1/dljob.1" "$man/man8/dl-operator.8"; do
    LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$f" >page 2>complaints
    is "$(cat complaints)" ""
    has "$(cat page)" "SEE ALSO"
  done
}

# completes LINE: what bash offers at its end, sorted, on one line.
completes() {
  bash -c '
    source "$1"
    line=$2
    read -r -a COMP_WORDS <<<"${line//=/ = }"
    [[ $line == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _dljob
    printf "%s\n" "${COMPREPLY[@]}" | sort | paste -s -d " "
  ' bash "$DESTDIR$PREFIX/share/bash-completion/completions/dljob" "$1"
}

@test "bash completes commands, options, values, kinds and files" {
  touch job.yaml
  mkdir dir
  is "$(completes "dljob va")" "validate"
  is "$(completes "dljob re")" "render rerun resume"
  is "$(completes "dljob render --na")" "--namespace"
  is "$(completes "dljob list -o ")" "json name table yaml"
  is "$(completes "dljob list --output=j")" "json"
  is "$(completes "dljob list --output j")" "json"
  is "$(completes "dljob crds TF")" "TFJob.mpba.fbk.eu"
  is "$(completes "dljob validate ")" "dir job.yaml"
  is "$(completes "dljob render --kinds-dir ")" "dir"
  is "$(completes "dljob help comp")" "completion"
  is "$(completes "dljob list --state Run")" "Running"
  is "$(completes "dljob wait --for ")" "deleted finished running succeeded"
  # Nothing sensible: nothing.
  is "$(completes "dljob frob ")" ""
  is "$(completes "dljob __comp")" ""
  is "$(completes "dljob get ")" ""
}

@test "completion scripts are for bash and zsh" {
  split dljob completion fish
  is "$status" 2
  has "$err" "which shell? bash or zsh"
  command -v zsh >/dev/null || skip "there is no zsh here"
  zsh -n "$DESTDIR$PREFIX/share/zsh/site-functions/_dljob"
}

@test "uninstall leaves nothing" {
  copy=$BATS_TEST_TMPDIR/copy
  BUILD=$(dirname "$DLJOB") DESTDIR=$copy "$root/scripts/install.sh"
  DESTDIR=$copy "$root/scripts/install.sh" --uninstall
  is "$(find "$copy" ! -type d)" ""
}
