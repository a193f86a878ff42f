# SPDX-License-Identifier: Apache-2.0
# Everything sets up what it needs: a fresh machine with Python 3.11+ and make is enough.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help setup demo test check bench docs golden clean

help: ## what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Assay needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; use make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# Modules are compiled here, as pip does for what it installs: some shells tell Python not to.
COMPILE := $(BIN)/python -m compileall -q src/assay

$(VENV)/.user: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@$(COMPILE)
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@$(COMPILE)
	@touch $@ $(VENV)/.user

# Browser tests drive a Chromium that is already there; only root on Debian is given one.
$(VENV)/.browser: $(VENV)/.dev
	@command -v chromium chromium-browser google-chrome >/dev/null 2>&1 || \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	    apt-get install -y -qq --no-install-recommends chromium >/dev/null; \
	  fi
	@touch $@

setup: $(VENV)/.dev ## a virtual environment with everything for development

demo: $(VENV)/.user ## score and compare sample systems of every task; writes assay-demo/report.html
	@$(BIN)/assay demo

test: $(VENV)/.browser ## the whole suite with lint, types and layers
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -q -n $(JOBS)

check: $(VENV)/.browser ## like test, without the slow simulations
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest -q -n $(JOBS) -m 'not slow'

.PHONY: lint
lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev ## Assay and its peers side by side; writes benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks --write benchmarks/RESULTS.md

docs: $(VENV)/.dev ## write the generated pages of docs/reference again
	$(BIN)/python -m docs.generate

golden: $(VENV)/.dev ## write golden files again, to be read before they are kept
	$(BIN)/python -m pytest -q -n $(JOBS) --update-golden -m 'not slow'

clean: ## remove what was made here
	rm -rf $(VENV) assay-demo benchmarks/data .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
