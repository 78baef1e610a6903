# The front door. `make help` lists what there is.
BUILD ?= build
MESON_FLAGS ?=

.PHONY: all help test
all: ## build build/dljob
	@scripts/deps.sh
	@scripts/build.sh $(BUILD) $(MESON_FLAGS)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

test: ## build with warnings as errors, run all tests, also under ASan and UBSan
	@scripts/deps.sh
	@scripts/test.sh
