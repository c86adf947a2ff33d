# Everything runs in a virtual environment that the rules below create; all it takes is make and Python.
PYTHON ?= python3
VENV ?= .venv

BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check -qq install -c constraints.txt
PINS := pyproject.toml lab/pyproject.toml constraints.txt
VENV_READY := $(VENV)/.stamp-venv
DEMO_READY := $(VENV)/.stamp-demo
LIVE_READY := $(VENV)/.stamp-live
DEV_READY := $(VENV)/.stamp-dev
ENGINES_READY := $(VENV)/.stamp-engines
BUILD_READY := $(VENV)/.stamp-build

# For measurements on one thread. Tests set nothing, as users do.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo live bench check test test-distributed lint format docs wheels clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile
	@echo "Set PYTHON to choose the interpreter (now $(PYTHON)) and VENV to choose the environment (now $(VENV))."

demo: $(DEMO_READY) ## stream a small data set, certify its embedding, draw a picture
	$(BIN)/okspca demo

live: $(LIVE_READY) ## start the service with a built-in stream and print its address
	$(BIN)/okspca demo --live

bench: $(DEV_READY) ## measure speed against others; rows, tables and pictures go to results/bench
	$(BIN)/okspca bench --cases default --out results/bench
	$(ONE_THREAD) $(BIN)/okspca bench --out results/bench
	$(ONE_THREAD) $(BIN)/okspca bench --memory 10000000 --out results/bench
	$(ONE_THREAD) $(BIN)/okspca bench --memory 10000000 --heavy-tails --out results/bench

check: lint ## lint, then run the fast tests: under a minute, once kernels and types are cached
	$(BIN)/python -m pytest -n 2 -m "not slow" --durations 5 --durations-min 1

# Two processes would compile the same kernels, and tell of it where tests expect silence.
test: lint ## lint, then run all tests and the examples in the docstrings
	$(BIN)/okspca warm
	$(BIN)/python -m pytest -n 2

# A file's tests stay in one process: each starts one cluster of an engine.
test-distributed: $(ENGINES_READY) ## install Dask, Spark, river, Kafka, Redis and UMAP; run their tests
	$(BIN)/python -m pytest -n 2 --dist loadfile \
		tests/distributed tests/lab/studies/distributed src/okspca/distributed tests/test_docs.py

lint: $(DEV_READY) ## check style, formatting, types and the order of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(DEV_READY) ## rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(DEV_READY) ## build the pages in docs/_build/html
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

wheels: $(BUILD_READY) ## build okspca and okspca-lab, as wheels and sources, into dist
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --outdir dist lab

clean: ## remove caches and built files; the environment stays
	rm -rf build dist docs/_build .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src lab tests docs -type d -name __pycache__ -prune -exec rm -rf {} +

$(VENV_READY):
	@found=$$($(PYTHON) --version 2>&1) || found="not installed"; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "okspca needs Python 3.11 or newer, but $(PYTHON) is $$found: name a newer one, for example PYTHON=python3.12."; \
		exit 1; \
	}
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(DEMO_READY): $(VENV_READY) $(PINS)
	$(PIP_INSTALL) -e '.[plot]'
	@touch $@

$(LIVE_READY): $(VENV_READY) $(PINS)
	$(PIP_INSTALL) -e '.[serve]'
	@touch $@

# The dev extra contains the extras plot and serve, so both demos are ready as well.
$(DEV_READY): $(VENV_READY) $(PINS)
	$(PIP_INSTALL) -e '.[dev]' -e lab
	@touch $(DEMO_READY) $(LIVE_READY) $@

$(ENGINES_READY): $(DEV_READY)
	$(PIP_INSTALL) -e '.[dev,dask,spark,river,kafka,redis,neighbours]' -e lab
	@touch $@

$(BUILD_READY): $(VENV_READY) $(PINS)
	$(PIP_INSTALL) build hatchling
	@touch $@
