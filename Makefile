# `make` lists the targets. Everything is made inside .venv and build; nothing has to be activated.

VENV := .venv
BIN := $(VENV)/bin
VENV_STAMPS := $(VENV)/.stamps
SYSTEM_STAMPS := build/.stamps
CMAKE := $(BIN)/cmake
PIP := $(BIN)/python -m pip --disable-pip-version-check
JOBS ?= $(shell nproc)
TESTS ?= tests

# ninja comes from .venv; CMake and its generated rules look for it on PATH.
export PATH := $(CURDIR)/$(BIN):$(PATH)
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:

.PHONY: help demo build test bench check check-clang test-cpp asan tsan test-python test-wheel format wheel clean \
        distclean setup

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build $(VENV_STAMPS)/examples ## Set up, build, and chat with a real model on neuron and on the CPU
	@$(BIN)/opentrn demo

build: build/release/build.ninja $(VENV_STAMPS)/package ## Build what has changed and put it into .venv
	@$(CMAKE) --build --preset release -j $(JOBS) --target opentrn _C
	@$(CMAKE) --install build/release --prefix . >build/release/install.log

test: setup ## Run every test and check, with one line for each part at the end
	@MAKE="$(MAKE)" $(BIN)/python tools/test.py

bench: build ## Measure against torch on the CPU and write docs/benchmarks.md
	@$(BIN)/python benchmarks/write.py

check: $(VENV_STAMPS)/dev ## Check layers, file lengths, layout and style of the sources
	@$(BIN)/python tools/check.py

check-clang: $(VENV_STAMPS)/dev ## Compile libopentrn with clang, warnings as errors, when clang is installed
	@$(BIN)/python tools/check_clang.py

test-cpp: $(SYSTEM_STAMPS)/test build ## Run the C++ tests
	@$(CMAKE) --build --preset release -j $(JOBS)
	@$(BIN)/ctest --preset release -j $(JOBS)

asan: $(SYSTEM_STAMPS)/test build/asan/build.ninja ## Run the C++ tests under the address and undefined behaviour sanitizers
	@$(CMAKE) --build --preset asan -j $(JOBS)
	@UBSAN_OPTIONS=print_stacktrace=1 $(BIN)/ctest --preset asan -j $(JOBS)

tsan: $(SYSTEM_STAMPS)/test build/tsan/build.ninja ## Run the C++ tests under the thread sanitizer
	@$(CMAKE) --build --preset tsan -j $(JOBS)
	@tools/fixed_addresses.sh $(BIN)/ctest --preset tsan -j $(JOBS)

test-python: build $(VENV_STAMPS)/dev $(VENV_STAMPS)/examples ## Run the Python tests
	@$(BIN)/python -m pytest $(TESTS) --ignore=tests/packaging -n $(JOBS) --dist loadfile -q

test-wheel: build $(VENV_STAMPS)/dev ## Build the wheel, try it in a fresh environment, and break it
	@$(BIN)/python -m pytest tests/packaging -q

format: $(VENV_STAMPS)/dev ## Lay out the sources as `make check` wants them
	@find csrc tests -name '*.cpp' -o -name '*.h' | xargs $(BIN)/clang-format -i
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

wheel: $(VENV_STAMPS)/base ## Build a wheel into dist
	@$(PIP) wheel . --no-deps --wheel-dir dist

clean: ## Remove what was built
	rm -rf build dist opentrn/*.so opentrn/_build_info.py

distclean: clean ## Remove .venv as well
	rm -rf $(VENV)

setup: $(SYSTEM_STAMPS)/test $(VENV_STAMPS)/dev $(VENV_STAMPS)/examples

$(SYSTEM_STAMPS)/%: tools/setup_system.sh tools/find_python.sh tools/find_cxx.sh
	@tools/setup_system.sh $*
	@mkdir -p $(@D) && touch $@

$(VENV_STAMPS)/venv: | $(SYSTEM_STAMPS)/build
	@test -x $(BIN)/python || $$(tools/find_python.sh) -m venv $(VENV)
	@mkdir -p $(@D) && touch $@

$(VENV_STAMPS)/base: requirements/base.txt $(VENV_STAMPS)/venv
	@echo "[setup] installing $<"
	@$(PIP) install -r $<
	@touch $@

$(VENV_STAMPS)/dev: requirements/dev.txt requirements/examples.txt $(VENV_STAMPS)/base
	@echo "[setup] installing $<"
	@$(PIP) install -r $<
	@touch $@

$(VENV_STAMPS)/examples: requirements/examples.txt requirements/examples-no-deps.txt $(VENV_STAMPS)/base
	@echo "[setup] installing $<"
	@$(PIP) install -r $<
	@$(PIP) install --no-deps -r requirements/examples-no-deps.txt
	@touch $@

# Entry points and a path to this folder; the compiled parts are put there by `build`, so nothing is compiled here.
$(VENV_STAMPS)/package: pyproject.toml $(VENV_STAMPS)/base
	@$(PIP) install --quiet --no-deps --no-build-isolation -C wheel.cmake=false -C editable.mode=inplace -e .
	@touch $@

# Ninja runs CMake again by itself when a CMake file changes; presets, torch and a GoogleTest installed since then are
# beyond its sight.
build/%/build.ninja: CMakePresets.json $(VENV_STAMPS)/base $(wildcard $(SYSTEM_STAMPS)/test)
	@CXX=$$(tools/find_cxx.sh) $(CMAKE) --preset $*
	@touch $@
