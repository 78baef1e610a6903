#!/bin/sh
# Puts what `make` has built below PREFIX, or takes it away:  scripts/install.sh [--uninstall]
# BUILD, PREFIX and DESTDIR come from the Makefile. Manual pages and completions are printed by the programs themselves,
# so that they fit.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}" "${PREFIX:=/usr/local}" "${DESTDIR:=}"
root=$DESTDIR$PREFIX

if [ "${1:-}" = --uninstall ]; then
  rm -f "$root/bin/dl-operator" "$root/bin/dljob" "$root/bin/kubectl-dljob" "$root/bin/kubectl_complete-dljob" \
    "$root/share/bash-completion/completions/dljob" "$root/share/zsh/site-functions/_dljob" \
    "$root/share/man/man1/dljob.1" "$root/share/man/man8/dl-operator.8"
  rm -rf "$root/share/dl-operator" "$root/lib/dl-operator"
  exit 0
fi

# put FILE MODE: standard input becomes FILE, whole or not at all.
put() {
  install -d "$(dirname "$1")"
  cat >"$1.new"
  chmod "$2" "$1.new"
  mv -f "$1.new" "$1"
}

install -d "$root/bin" "$root/share/dl-operator/kinds/lib"
install -m 755 "$BUILD/dl-operator" "$BUILD/dljob" "$root/bin/"
install -m 644 kinds/*.lua "$root/share/dl-operator/kinds/"
install -m 644 kinds/lib/*.lua "$root/share/dl-operator/kinds/lib/"
# Where Debian has no yyjson of its own, ours comes along.
if [ -e build/deps/lib/libyyjson.so.0 ]; then
  install -d "$root/lib/dl-operator"
  install -m 644 build/deps/lib/libyyjson.so.0 "$root/lib/dl-operator/"
fi
# `kubectl dljob`, and how kubectl completes it.
ln -sf dljob "$root/bin/kubectl-dljob"
printf '#!/bin/sh\nexec dljob __complete -- "$@"\n' | put "$root/bin/kubectl_complete-dljob" 755
"$root/bin/dljob" completion bash | put "$root/share/bash-completion/completions/dljob" 644
"$root/bin/dljob" completion zsh | put "$root/share/zsh/site-functions/_dljob" 644
"$root/bin/dljob" help --man | put "$root/share/man/man1/dljob.1" 644
"$root/bin/dl-operator" --man | put "$root/share/man/man8/dl-operator.8" 644
