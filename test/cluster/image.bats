#!/usr/bin/env bats
# shellcheck disable=SC2154 # the helpers set root
# bats file_tags=apart
# The image as `make image` makes it: a release build, in two clones. What is in it: test/e2e/image.bats; that it runs
# in containers: node.bats.
load ../e2e/helpers

# clone FOLDER: of what is committed, with the libraries that are not Debian's own.
clone() {
  git clone -q "$root" "$1"
  mkdir "$1/build"
  [ ! -e "$root/build/deps" ] || cp -r "$root/build/deps" "$1/build/"
}

@test "two clones at different paths give the same image" {
  clone one
  clone another/and/deeper
  (cd one && TZ=Asia/Tokyo make --no-print-directory image) >one.said
  (cd another/and/deeper && umask 027 && make --no-print-directory image) >another.said
  is "$(head -n 1 one.said)" "$(head -n 1 another.said)"
  cmp one/build/image/dl-operator.tar another/and/deeper/build/image/dl-operator.tar
  # One that was changed says so.
  echo >>one/README.md
  (cd one && make --no-print-directory image) >said
  [ "$(head -n 1 said)" != "$(head -n 1 one.said)" ]
  tar -C one -xf one/build/image/dl-operator.tar
  is "$(jq -r '.config.Labels["org.opencontainers.image.revision"]' "one/$(jq -r '.[0].Config' one/manifest.json)")" \
    "$(git -C one rev-parse HEAD)-dirty"
}
