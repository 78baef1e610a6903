#!/bin/sh
# Puts what `make` has built below PREFIX, or takes it away:  scripts/install.sh [--uninstall]
# BUILD, PREFIX, SYSCONFDIR and DESTDIR come from the Makefile. Manual pages and completions are printed by the programs
# themselves, so that they fit.
set -eu
cd "$(dirname "$0")/.."
: "${BUILD:=build}" "${PREFIX:=/usr/local}" "${SYSCONFDIR:=/etc}" "${DESTDIR:=}"
root=$DESTDIR$PREFIX
profiles=$DESTDIR$SYSCONFDIR/apparmor.d

# tell_apparmor OPTION: of the profile; on this machine, not where a package is made. What it cannot do stops nothing.
tell_apparmor() {
  [ -z "$DESTDIR" ] && command -v apparmor_parser >/dev/null || return 0
  apparmor_parser "$1" "$profiles/dljob" || echo "install: AppArmor refused to $1 $profiles/dljob" >&2
}

# profile_is_ours: it is for the program here.
profile_is_ours() {
  [ -w "$profiles/dljob" ] && grep -qF "profile dljob \"$PREFIX/bin/dljob\" " "$profiles/dljob"
}

if [ "${1:-}" = --uninstall ]; then
  rm -f "$root/bin/dl-operator" "$root/bin/dljob" "$root/bin/kubectl-dljob" "$root/bin/kubectl_complete-dljob" \
    "$root/share/bash-completion/completions/dljob" "$root/share/zsh/site-functions/_dljob" \
    "$root/share/man/man1/dljob.1" "$root/share/man/man8/dl-operator.8"
  rm -rf "$root/share/dl-operator" "$root/lib/dl-operator"
  if profile_is_ours; then
    tell_apparmor --remove
    rm -f "$profiles/dljob"
  fi
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

# Ubuntu gives user namespaces only to programs with a profile. Older AppArmors need none and could not read this one;
# an ordinary user who installs below PREFIX may not write there.
install -d "$root/share/dl-operator/apparmor"
sed "s|^profile dljob .* flags|profile dljob \"$PREFIX/bin/dljob\" flags|" deploy/apparmor/dljob |
  put "$root/share/dl-operator/apparmor/dljob" 644
if [ -e "$profiles/abi/4.0" ] && [ -w "$profiles" ] && { [ ! -e "$profiles/dljob" ] || profile_is_ours; }; then
  install -m 644 "$root/share/dl-operator/apparmor/dljob" "$profiles/"
  tell_apparmor --replace
fi
