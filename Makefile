# `make demo` and `make test` need Python 3.11+ and nothing else: each makes .venv and installs into it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

PYTEST := OPENBLAS_NUM_THREADS=1 SUPPLE_THREADS=1 $(BIN)/pytest -n auto --dist worksteal --durations=25 --durations-min=2

.PHONY: demo test verify test-processors lint types docs bench clean

demo: $(INSTALLED)
	$(BIN)/supple demo --output demo

test: lint types $(INSTALLED)
	$(PYTEST) -m "not verify"

# What takes longer than a few seconds each, so that everyone can run the rest: with `test`, every test.
verify: $(INSTALLED)
	$(PYTEST) -m verify

test-processors: $(INSTALLED)
	$(BIN)/python tests/processors.py

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

docs: $(INSTALLED)
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) demo docs/_build

$(INSTALLED): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Supple needs Python 3.11 or newer; run make PYTHON=python3.11 or later") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@
