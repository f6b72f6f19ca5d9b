# The commands of a contributor. You need only Python >= 3.11 and cargo; each target installs the rest.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
OUT    ?= bench-results
WORKERS := tests/workers
STORE  := tests/store tests/properties tests/audit
RAY    := tests/runtime tests/docs tests/packaging
CORE   := $(shell find core_rs -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

whole  = output=$$($(1) 2>&1); code=$$?; echo "$$output"; exit $$code

.PHONY: help setup bench test test-workers test-store test-ray test-others test-core test-faults lint format \
  instructions docs clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/'

setup: $(VENV)/.core  ## create .venv and build the Rust core into it

$(VENV)/.packages: pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON to its path")'
	@command -v cargo >/dev/null || { echo "cargo not found: install Rust (https://rustup.rs)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet -c requirements.lock maturin --group test --group lint --group bench
	@touch $@

$(VENV)/.core: $(VENV)/.packages $(CORE)
	PIP_QUIET=1 PIP_CONSTRAINT=$(CURDIR)/requirements.lock VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/maturin develop --quiet
	@touch $@

bench: setup     ## run every scenario and write the reports into OUT
	$(BIN)/python -m bench full --out $(OUT)

test: setup      ## run every test except the fault and chaos tests
	@$(MAKE) --no-print-directory -j2 test-others test-store test-ray test-workers

test-others: setup
	@$(BIN)/python -m pytest -m "not fault and not chaos" $(patsubst %,--ignore=%,$(WORKERS) $(STORE) $(RAY))

test-workers: setup  ## run the tests of fairlane.workers, which must cover every line and branch; print their output when they end
	@$(call whole,$(BIN)/python -m pytest $(WORKERS) --cov --cov-report=term)

test-store: setup  ## run the tests of the store's scripts; print their output when they end
	@$(call whole,$(BIN)/python -m pytest -m "not fault and not chaos" $(STORE))

test-ray: setup    ## run the tests that start Ray and programs; print their output when they end
	@$(call whole,$(BIN)/python -m pytest -m "not fault and not chaos" $(RAY))

test-core:       ## test the Rust core alone, without Python
	cargo test --workspace --quiet

test-faults: setup  ## run the tests that kill, stop and cut off real processes
	$(BIN)/python -m pytest -m fault

lint: setup      ## check with ruff, mypy, import-linter, clippy, rustfmt and the Lua linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.support.lua_lint
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --quiet -- -D warnings

instructions: setup  ## count what the server does for a task, and compare it with the budget
	$(BIN)/python -m tools.instructions

format: setup    ## format all sources
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt --all

docs: setup      ## regenerate the pages that are generated from the code
	$(BIN)/python -m tools.docs.configuration > docs/configuration.md
	$(BIN)/python -m tools.docs.redis_schema > docs/redis-schema.md
	$(BIN)/python -m tools.docs.telemetry > docs/telemetry.md
	$(BIN)/python -m tools.docs.performance > docs/performance.md

clean:           ## remove everything the other targets created
	rm -rf $(VENV) target bench-results dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/fairlane/_core*.so
