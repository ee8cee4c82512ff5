# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test check kernels suite package docs fuzz bench papers clean
demo: $(VENV)/.installed       ## install, then run the main job on built-in data
	$(BIN)/pomona demo

test: $(VENV)/.installed-dev   ## style, types and every test
	$(MAKE) --jobs 2 check suite   # types are checked on one core while the tests begin

suite: kernels
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

# Kernels as plain Python, where an index out of bounds is an error and not whatever lies there in memory.
KERNEL_TESTS := tests/measures tests/trees/test_walk.py tests/objectives/test_regression.py \
	tests/objectives/test_lambdaloss.py::test_ranks_that_a_measure_does_not_weigh_count_nothing
kernels: $(VENV)/.installed-dev
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 -W 'ignore:overflow encountered:RuntimeWarning' $(KERNEL_TESTS)

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

package: $(VENV)/.installed-dev  ## dist/: what would be uploaded, checked
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

docs: $(VENV)/.installed-docs    ## the site, in site/; any warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

MINUTES ?= 10
fuzz: $(VENV)/.installed-dev   ## made-up and damaged files, kills, shuffled rows: MINUTES of them, then a table
	PYTHONPATH=tests $(BIN)/python -m fuzz $(MINUTES)

bench: $(VENV)/.installed-dev  ## peers side by side, tables for docs/benchmarks.md
	$(BIN)/python -m benchmarks

# The runs are kept in $(RUNS): after an interruption the same command goes on where it stopped. JOBS processes.
RUNS ?= papers-runs
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
PAPERS := $(basename $(notdir $(wildcard examples/papers/*.toml)))
papers: $(addprefix papers-,$(PAPERS))  ## the papers, reproduced: run every spec, then write docs/results
	$(BIN)/python examples/papers/pages $(RUNS) docs/results

papers-%: $(VENV)/.installed-dev
	$(BIN)/pomona compare examples/papers/$*.toml --jobs $(JOBS) --out $(RUNS)/$*

# Data that few have: without them the comparison says where to get them, and the others go on.
papers-thesis_mslr10k papers-thesis_wcl2r papers-thesis_size_wcl2r papers-thesis_overfit_wcl2r: papers-%: $(VENV)/.installed-dev
	-$(BIN)/pomona compare examples/papers/$*.toml --jobs $(JOBS) --out $(RUNS)/$*

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.installed-dev: pyproject.toml constraints-dev.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --constraint constraints-dev.txt
	touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
