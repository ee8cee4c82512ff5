# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test check bench clean
demo: $(VENV)/.installed       ## install, then run the main job on built-in data
	$(BIN)/pomona demo

test: $(VENV)/.installed-dev check  ## style, types and every test
	$(BIN)/pytest

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.installed-dev  ## peers side by side, tables for docs/benchmarks.md
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints-dev.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --constraint constraints-dev.txt
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
