# The front door. `make help` lists what there is.
BUILD ?= build
PREFIX ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR ?=
MESON_FLAGS ?=
EXAMPLE ?= examples/local/linear.yaml
IMAGE ?= dl-operator
TAG ?=
SEEDS ?= 2000
FROM ?= random
FUZZERS ?=
FUZZ_SECONDS ?= 60

.PHONY: all help run test test-plain test-frameworks test-local test-cluster test-cluster-oldest
.PHONY: demo bench bench-cluster bench-local
.PHONY: example-mxnet example-tensorflow example-paddle example-pytorch
.PHONY: fuzz coverage seeds soak soak-cluster soak-local lint format image manifests install uninstall clean
.PHONY: hooks deb wheel release-dry-run

all: ## build build/dl-operator, build/dljob and build/dl-sim
	@scripts/deps.sh
	@TARGETS="dl-operator dljob dl-sim" scripts/build.sh $(BUILD) $(MESON_FLAGS)

run: ## train a small model with four processes on this machine (EXAMPLE=file)
	@scripts/deps.sh
	@TARGETS=dljob scripts/build.sh $(BUILD) $(MESON_FLAGS)
	@$(BUILD)/dljob run $(EXAMPLE)

example-mxnet: all ## train a small model with MXNet over several replicas on this machine
example-tensorflow: all ## the same with TensorFlow
example-paddle: all ## the same with PaddlePaddle
example-pytorch: all ## the same with PyTorch
# Status 77 is a skip: the framework cannot be had here.
example-mxnet example-tensorflow example-paddle example-pytorch: example-%:
	@DLJOB=$${DLJOB:-$(BUILD)/dljob} scripts/example.sh $* || [ $$? = 77 ]

test: ## build with warnings as errors, run all tests once, under ASan and UBSan
	@scripts/deps.sh
	@scripts/test.sh

test-plain: ## the same tests of a build without sanitizers
	@scripts/deps.sh
	@scripts/test.sh --plain

test-frameworks: all ## MXNet, TensorFlow and PyTorch on this machine (DL_REQUIRE=1: no skipping)
	@bats --timing test/frameworks

test-local: all ## tests of jobs' lives on the cluster on this machine, the same as on a real Kubernetes
	@scripts/test-cluster.sh --local

test-cluster: all ## test-local, and tests on a real Kubernetes (the first time builds it; all of it as root)
	@scripts/test-cluster.sh --local
	@scripts/test-cluster.sh
	@KILLS=40 test/cluster-soak/run kill input network foreign
	@KILLS=10 $(MAKE) --no-print-directory soak-local

test-cluster-oldest: all ## what depends on the version, on the oldest Kubernetes that is supported
	@scripts/test-cluster.sh --oldest

demo: all ## record docs/demo.svg, the session at the top of the README
	@scripts/record.py docs/demo.svg "dljob run --kill worker/1@1 $(EXAMPLE)"

bench: ## measure speed, beside the targets
	@scripts/deps.sh
	@scripts/build.sh build-bench --buildtype=release
	@build-bench/test/bench/bench build-bench/dljob

bench-cluster: ## measure the operator on a real API server, beside a plain load generator (ten minutes)
	@scripts/deps.sh
	@TARGETS="dl-operator test/bench-cluster/replay" scripts/build.sh build-bench --buildtype=release
	@test/bench-cluster/run --build build-bench

bench-local: ## measure the cluster on this machine, beside the targets
	@scripts/deps.sh
	@TARGETS=dljob scripts/build.sh build-bench --buildtype=release
	@PYTHONDONTWRITEBYTECODE=1 DLJOB=$(CURDIR)/build-bench/dljob test/local-bench/run

fuzz: ## run the fuzzers, a minute each; build-fuzz/found has their finds (FUZZERS="store api", FUZZ_SECONDS=3600)
	@scripts/deps.sh --lint
	@FUZZ_SECONDS='$(FUZZ_SECONDS)' scripts/fuzz.sh $(FUZZERS)

coverage: ## branch coverage of src/plan and src/job; fails under 95 %
	@scripts/deps.sh --lint
	@scripts/coverage.sh

seeds: ## run the simulator with 2,000 seeds from a random start, list what broke (SEEDS=number, FROM=first)
	@scripts/deps.sh
	@TARGETS=dl-sim scripts/build.sh $(BUILD) $(MESON_FLAGS)
	@$(BUILD)/dl-sim --seeds $(SEEDS) --from $(FROM) --jobs $$(nproc) --keep-going

soak: all ## run the simulator with ever new seeds until stopped
	@$(BUILD)/dl-sim --soak

soak-cluster: all ## kill, cut off and mislead operators on a real API server (half an hour; all of it as root)
	@test/cluster-soak/run

soak-local: all ## kill the cluster on this machine a hundred times under load, and look at what is left
	@PYTHONDONTWRITEBYTECODE=1 DLJOB=$(CURDIR)/$(BUILD)/dljob test/local-soak/run

lint: ## format, clang, clang-tidy, cppcheck and shellcheck, warnings as errors
	@scripts/deps.sh --lint
	@scripts/lint.sh

format: ## format the C sources in place
	@scripts/deps.sh --lint
	@git ls-files '*.c' '*.h' | xargs clang-format -i

hooks: ## check what is staged before every commit: format, shellcheck, tidy
	@scripts/pre-commit.sh --install

image: ## build/image/dl-operator.tar, an image of both programs for containerd, podman and docker (IMAGE=name)
	@scripts/deps.sh
	@deploy/image/rootfs.sh build/image/root
	@IMAGE='$(IMAGE)' TAG='$(TAG)' deploy/image/archive.sh build/image/root build/image/dl-operator.tar

manifests: all ## deploy/manifests from the helm chart
	@scripts/manifests.sh

deb: ## build/deb: Debian packages of both programs
	@scripts/deb.sh

wheel: ## build/wheel: dljob for pip, with its libraries
	@scripts/deps.sh --release
	@TARGETS=dljob scripts/build.sh build-image --buildtype=release
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PYTHONDONTWRITEBYTECODE=1 scripts/wheel.py \
	  --version $$(scripts/version.sh) --out build/wheel build-image/dljob

release-dry-run: ## build/release: all files of a release, without its tag
	@scripts/release.sh --dry-run

install: all ## install both programs, kinds, manual pages and completions below PREFIX
	@BUILD='$(BUILD)' PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' DESTDIR='$(DESTDIR)' scripts/install.sh

uninstall: ## remove what `make install` put below PREFIX
	@PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' DESTDIR='$(DESTDIR)' scripts/install.sh --uninstall

clean: ## remove what was built
	@rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 19
