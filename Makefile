# Each target says what it does; `make help` lists them. CMakePresets.json holds the builds.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

CONFIGURE = cmake -Wno-dev --log-level=NOTICE --preset
BUILD = cmake --build --parallel $(JOBS) --preset
SOURCES = git ls-files --cached --others --exclude-standard '*.h' '*.cpp'

.DEFAULT_GOAL := help
.PHONY: help quickstart test build setup checks sanitize fuzz format lint bench install clean

help: ## List the targets
	@echo "make TARGET, with TARGET one of"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

quickstart: build ## Set up, build, and go from data to a model
	@scripts/quickstart

test: build ## Set up, build, and run the tests
	@echo "== tests"
	@ctest --test-dir build/release --parallel 2 --output-on-failure --no-tests=error

build: setup ## Set up and build the program: build/release/lase
	@echo "== build (release)"
	@$(CONFIGURE) release
	@$(BUILD) release

setup:
	@scripts/setup

checks:
	@scripts/setup --checks

sanitize: setup ## Run the tests under the address and undefined-behaviour sanitizers
	@scripts/check_sanitize $(JOBS)

fuzz: checks ## Fuzz the readers, FUZZ_SECONDS=60 for each target
	@scripts/fuzz $(FUZZ_SECONDS)

format: checks ## Format all sources in place
	@echo "== clang-format"
	@$(SOURCES) | xargs clang-format -i

lint: checks ## Check the order of folders, the format, and clang-tidy's findings
	@scripts/check_layers
	@scripts/check_format
	@scripts/check_tidy $(JOBS)

bench: build ## Run the benchmarks (3 GB of disk under build/bench)
	@echo "== benchmarks"
	@mkdir -p build/bench
	@build/release/apps/bench/bench_ingest build/release/lase build/bench
	@build/release/apps/bench/bench_kernel
	@build/release/lase bench step --inference --reference

install: build ## Install the program, the library and its CMake package under PREFIX=/usr/local
	@echo "== install into $(PREFIX)"
	@cmake --install build/release --prefix "$(PREFIX)"

clean: ## Remove everything that was built
	@echo "== removing build/"
	@rm -rf build
