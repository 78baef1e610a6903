#!/bin/sh
# Looks at what is staged before it becomes a commit: the format of C lines that change, shell scripts, and test/tidy.
# It takes seconds. `git commit --no-verify` goes round it.
#
#   scripts/pre-commit.sh              in the repository whose commit is made
#   scripts/pre-commit.sh --install    makes it a hook of this repository; `make hooks` does that
set -eu
LC_ALL=C
export LC_ALL

install_hook() {
  cd "$(dirname "$0")/.."
  hook=$(git rev-parse --git-path hooks)/pre-commit
  if [ -e "$hook" ] && ! grep -q 'scripts/pre-commit\.sh' "$hook"; then
    echo "hooks: $hook is there and not ours; call scripts/pre-commit.sh from it" >&2
    exit 1
  fi
  mkdir -p "$(dirname "$hook")"
  cat >"$hook" <<'SH'
#!/bin/sh
# Installed by `make hooks`. A branch without the script is not checked.
check=$(git rev-parse --show-toplevel)/scripts/pre-commit.sh
[ ! -x "$check" ] || exec "$check"
SH
  chmod 755 "$hook"
  echo "hooks: installed $hook"
}

case $* in
'') ;;
--install) install_hook; exit 0 ;;
*) sed -n 's/^#   //p' "$0" >&2; exit 2 ;;
esac

cd "$(git rev-parse --show-toplevel)"
staged=$(git diff --cached --name-only --diff-filter=d)
[ -n "$(git diff --cached --name-only)" ] || exit 0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP
failed=

# missing PROGRAM: says that a check is left out.
missing() {
  ! command -v "$1" >/dev/null 2>&1 || return 1
  echo "pre-commit: no $1 here, its check is left out (scripts/deps.sh --lint installs it)" >&2
}

# changed FILE: the lines that it gets, as clang-format wants them.
changed() {
  git diff --cached -U0 -- "$1" | sed -n 's/^@@ [^+]*+\([0-9]*\),*\([0-9]*\) @@.*/\1 \2/p' |
    awk '{ n = NF > 1 ? $2 : 1; if (n) print "--lines=" $1 ":" $1 + n - 1 }'
}

# Only lines that change: older ones may have been formatted by hand.
check_format() {
  ! missing clang-format || return 0
  printf '%s\n' "$staged" | grep '\.[ch]$' >"$tmp/sources" || return 0
  while read -r f; do
    lines=$(changed "$f")
    # shellcheck disable=SC2086 # a list of options
    [ -z "$lines" ] || (cd "$tmp/tree" && clang-format $lines "$f" | diff -u --label "$f" --label "$f" "$f" -) || true
  done <"$tmp/sources" >"$tmp/format"
  [ ! -s "$tmp/format" ] || {
    cat "$tmp/format"
    echo "pre-commit: these lines would be formatted otherwise (make format)" >&2
    return 1
  }
}

check_shell() {
  ! missing shellcheck || return 0
  scripts=$(printf '%s\n' "$staged" | while read -r f; do
    case $f in
    *.sh | *.bash | *.bats) echo "$f" ;;
    *.*) ;;
    *) ! head -n 1 "$tmp/tree/$f" | grep -qE '^#!.*(sh|bats)$' || echo "$f" ;;
    esac
  done)
  # shellcheck disable=SC2086 # names without blanks
  [ -z "$scripts" ] || (cd "$tmp/tree" && shellcheck -x $scripts)
}

# violations TREE: without the numbers of lines, which change.
violations() {
  "$tmp/tree/test/tidy" "$1" | sed -n 's/^#   //p' | sed 's/^\([^:]*\):[0-9]*:/\1:/' | sort
}

# What was wrong before the commit does not stop it.
check_tidy() {
  violations "$tmp/tree" >"$tmp/after"
  [ -s "$tmp/after" ] || return 0
  mkdir "$tmp/before.tree"
  git archive HEAD | tar -C "$tmp/before.tree" -xf -
  violations "$tmp/before.tree" >"$tmp/before"
  comm -13 "$tmp/before" "$tmp/after" >"$tmp/new"
  [ ! -s "$tmp/new" ] || {
    cat "$tmp/new"
    echo "pre-commit: test/tidy finds these" >&2
    return 1
  }
}

git checkout-index --all --prefix="$tmp/tree/"
check_format || failed=yes
check_shell || failed=yes
check_tidy || failed=yes
[ -z "$failed" ] || exit 1
