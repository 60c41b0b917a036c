# `make demo` and `make test` need nothing before them: each sets up what it needs.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

.PHONY: setup java demo test lint bench docs clean

setup: $(STAMP) java

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "causalbed needs Python 3.11 or newer: install it, or name it by PYTHON=..." >&2; exit 64; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python venv is missing: install it (Debian, Ubuntu: apt-get install python3-venv)" >&2; exit 64; }
	@echo "installing pinned packages into $(VENV) (about two minutes the first time)"
	@PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --editable '.[dev,bench]'
	@touch $@

java: $(STAMP)
	@$(BIN)/python -m analysis.java

demo: setup
	$(BIN)/causalbed run quickstart --out runs
	$(BIN)/causalbed audit --series runs/latest
	@mkdir -p reports
	$(BIN)/causalbed report --series runs/latest --out reports/quickstart.html

test: setup lint
	$(BIN)/python -m pytest -n 2 -m "not ray and not spark"
	$(BIN)/python -m pytest -m "ray or spark"

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python -m benchmarks

docs: $(STAMP)
	$(BIN)/python -m testbed.cli.pages

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
