# `make help` lists the targets with their descriptions. CMakePresets.json defines the builds.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 60

CONFIGURE = cmake -Wno-dev --log-level=NOTICE --preset
BUILD = cmake --build --parallel $(JOBS) --preset
SOURCES = git ls-files --cached --others --exclude-standard '*.h' '*.cpp' '*.cu' '*.cuh'

.DEFAULT_GOAL := help
.PHONY: help quickstart test python build setup checks sanitize tsan fuzz soak format lint bench install clean

help: ## List the targets
	@echo "make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

quickstart: build ## Install dependencies, build, and train a model on generated data
	@scripts/quickstart

test: build python ## Install dependencies, build, and run the tests
	@echo "== tests"
	@scripts/test
	@echo "== tests in Python"
	@scripts/test_python

python: build ## Install the Python package into build/python/venv
	@scripts/setup --python
	@echo "== Python package"
	@scripts/python

build: setup ## Install dependencies and build build/release/lase
	@echo "== build (release)"
	@$(CONFIGURE) release
	@$(BUILD) release

setup:
	@scripts/setup

checks:
	@scripts/setup --checks

sanitize: setup ## Run the tests with the address and undefined-behavior sanitizers
	@scripts/check_sanitize $(JOBS)

tsan: setup ## Run the tests that start threads with ThreadSanitizer
	@scripts/check_threads $(JOBS)

fuzz: checks ## Fuzz the file readers for FUZZ_SECONDS=60 per target
	@scripts/fuzz $(FUZZ_SECONDS)

soak: build ## Attack the program with kills, full disks and damaged files for SOAK_SECONDS=60
	@scripts/soak $(SOAK_SECONDS)

format: checks ## Format all sources in place
	@echo "== clang-format"
	@$(SOURCES) | xargs clang-format -i

lint: checks ## Check includes and formatting, and run clang-tidy on all sources (takes long)
	@scripts/check_layers
	@scripts/check_format
	@scripts/check_tidy --all $(JOBS)

bench: build ## Run the benchmarks (needs 3 GB of disk space in build/bench)
	@echo "== benchmarks"
	@mkdir -p build/bench
	@build/release/apps/bench/bench_ingest build/release/lase build/bench
	@build/release/apps/bench/bench_kernel
	@build/release/lase bench step --inference --reference

install: build ## Install the program, the libraries and the CMake package to PREFIX=/usr/local
	@echo "== install into $(PREFIX)"
	@cmake --install build/release --prefix "$(PREFIX)"

clean: ## Remove all build files
	@echo "== removing build/"
	@rm -rf build
