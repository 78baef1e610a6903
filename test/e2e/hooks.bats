#!/usr/bin/env bats
# shellcheck disable=SC2154 # helpers.bash sets root, out and err
# scripts/pre-commit.sh in a small repository: what it stops, and what it lets pass.
load helpers

setup() {
  mkdir -p "$BATS_TEST_TMPDIR/tree/scripts" "$BATS_TEST_TMPDIR/tree/test" "$BATS_TEST_TMPDIR/tree/src/base"
  cd "$BATS_TEST_TMPDIR/tree" || return 1
  export GIT_AUTHOR_NAME=nobody GIT_AUTHOR_EMAIL=nobody@localhost
  export GIT_COMMITTER_NAME=nobody GIT_COMMITTER_EMAIL=nobody@localhost
  git init -q -b main
  cp "$root/.clang-format" .
  cp "$root/scripts/pre-commit.sh" scripts/
  cp "$root/test/tidy" test/
  echo '/* Banned calls. */' >src/base/banned.h
  printf '/* Good. */\n#include "base/banned.h"\n\nint old( int  a );\n' >src/base/good.h
  echo '# Readme' >README.md
  git add -A
  git commit -q -m first
  scripts/pre-commit.sh --install
}

needs() {
  command -v "$1" >/dev/null || skip "there is no $1 here (scripts/deps.sh --lint)"
}

# stopped WHAT: the commit is, and says WHAT.
stopped() {
  head=$(git rev-parse HEAD)
  split git commit -m next
  is "$status" 1
  has "$out$err" "$1"
  is "$(git rev-parse HEAD)" "$head"
}

passes() {
  head=$(git rev-parse HEAD)
  git commit -q -m next
  [ "$(git rev-parse HEAD)" != "$head" ]
}

@test "a line of C that is formatted otherwise; older ones stay as they are" {
  needs clang-format
  echo 'int right(int a);' >>src/base/good.h
  git add -A
  passes
  echo 'int  wrong( int a );' >>src/base/good.h
  git add -A
  stopped "+int wrong(int a);"
  has_not "$out" "+int old"
}

@test "what is staged counts, not what is in the files" {
  needs clang-format
  echo 'int right(int a);' >>src/base/good.h
  git add -A
  echo 'int  wrong( int a ); ' | tee -a src/base/good.h >>README.md
  passes
  git reset -q --hard
  echo 'int  wrong( int a );' >>src/base/good.h
  git add -A
  git show HEAD:src/base/good.h >src/base/good.h
  stopped "would be formatted otherwise"
}

@test "what test/tidy finds, if it is new" {
  echo '[there](docs/none.md)' >>README.md
  git add -A
  stopped "docs/none.md does not exist"
  git commit -q --no-verify -m broken
  # It was there before; a line above it changes its number only.
  sed -i '1a text' README.md
  git add -A
  passes
  printf 'trailing \n' >>README.md
  git add -A
  stopped "README.md: blanks at the end of the line"
  has_not "$out" "docs/none.md"
}

@test "a page that goes away while another leads to it" {
  mkdir docs
  echo '[there](docs/page.md)' >>README.md
  echo page >docs/page.md
  git add -A
  passes
  git rm -q docs/page.md
  stopped "docs/page.md does not exist"
}

# shellcheck disable=SC2016 # for those scripts
@test "shell scripts, whatever they are called" {
  needs shellcheck
  printf '#!/bin/sh\ncd $1\n' >scripts/new
  git add -A
  stopped "SC2086"
  git reset -q --hard
  printf '#!/bin/sh\ncd "$1" || exit\n' >scripts/new.sh
  git add -A
  passes
}

@test "a hook of one's own is left alone" {
  printf '#!/bin/sh\ntrue\n' >.git/hooks/pre-commit
  split scripts/pre-commit.sh --install
  is "$status" 1
  has "$err" "is there and not ours"
  is "$(tail -n 1 .git/hooks/pre-commit)" true
}

@test "a branch without the script can be committed to" {
  git rm -q scripts/pre-commit.sh
  passes
  echo 'text ' >>README.md
  git add -A
  passes
}
