#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031 # helpers.bash sets root, out and err; a test's variables are its own
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

# On a machine whose AppArmor is AppArmor 4: etc/ stands for its /etc, and what its parser is asked is in `asked`.
apparmor_4() {
  mkdir -p etc/apparmor.d/abi tools
  touch etc/apparmor.d/abi/4.0
  printf '#!/bin/sh\necho "$@" >>"%s"\nexit 1\n' "$PWD/asked" >tools/apparmor_parser
  chmod +x tools/apparmor_parser
  export SYSCONFDIR=$PWD/etc DESTDIR=
}

@test "AppArmor 4 gets a profile for the program that was installed, and loses it again" {
  export PREFIX="$PWD/the prefix"
  apparmor_4
  export BUILD
  BUILD=$(dirname "$DLJOB")
  # What AppArmor refuses does not stop an installation.
  PATH=$PWD/tools:$PATH split "$root/scripts/install.sh"
  is "$status" 0
  is "$err" "install: AppArmor refused to --replace $PWD/etc/apparmor.d/dljob"
  is "$(grep ^profile etc/apparmor.d/dljob)" "profile dljob \"$PREFIX/bin/dljob\" flags=(unconfined) {"
  is "$(grep -v ^profile etc/apparmor.d/dljob)" "$(grep -v ^profile "$root/deploy/apparmor/dljob")"
  PATH=$PWD/tools:$PATH split "$root/scripts/install.sh" --uninstall
  is "$status" 0
  is "$(cat asked)" "--replace $PWD/etc/apparmor.d/dljob
--remove $PWD/etc/apparmor.d/dljob"
  is "$(find etc -type f)" "etc/apparmor.d/abi/4.0"
  # Another program's is left alone.
  echo 'profile dljob "/usr/bin/dljob" flags=(unconfined) {' >etc/apparmor.d/dljob
  "$root/scripts/install.sh"
  "$root/scripts/install.sh" --uninstall
  has "$(cat etc/apparmor.d/dljob)" '"/usr/bin/dljob"'
  # An AppArmor before it could not read the profile.
  rm -r etc/apparmor.d/*
  "$root/scripts/install.sh"
  is "$(find etc -type f)" ""
}

@test "the Debian package brings the profile only to an AppArmor that can read it" {
  apparmor_4
  export DPKG_ROOT=$PWD PREFIX=/usr
  DESTDIR=$PWD SYSCONFDIR=/not BUILD=$(dirname "$DLJOB") "$root/scripts/install.sh"
  sh "$root/debian/dljob.postinst" configure
  is "$(grep ^profile etc/apparmor.d/dljob)" 'profile dljob "/usr/bin/dljob" flags=(unconfined) {'
  sh "$root/debian/dljob.postrm" upgrade
  [ -e etc/apparmor.d/dljob ]
  sh "$root/debian/dljob.postrm" remove
  sh "$root/debian/dljob.postrm" purge
  is "$(find etc -type f)" "etc/apparmor.d/abi/4.0"
  rm -r etc/apparmor.d/abi
  sh "$root/debian/dljob.postinst" configure
  is "$(find etc -type f)" ""
}
