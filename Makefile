# A machine with Python 3.11 or newer, pip and make is all that is needed.
PYTHON ?= python3
PROCESSES ?= 2
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --quiet
INSTALLED := .venv/.installed
DEVELOPMENT := .venv/.development
BENCHMARKS := .venv/.benchmarks

.DEFAULT_GOAL := help
# Two installations into one environment must not run at once.
.NOTPARALLEL:
.PHONY: help install demo test lint golden bench coverage docs dist format clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## Put the command tacit into .venv

demo: $(INSTALLED) ## A complete first experience
	@$(BIN)/tacit demo

# One thread of linear algebra a process: more would only wait for one another.
test: lint ## Format, lint, types, import contracts, tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist worksteal

lint: $(DEVELOPMENT) ## Everything of make test but the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Plans and fits, or one of them: make golden WHAT=plans; WHAT=--check only compares
golden: $(DEVELOPMENT) ## Store what is planned and released now, and show what changed
	$(BIN)/python -m tools.golden $(WHAT)

# All topics, or those named: make bench TOPICS="accuracy --tables adult"
bench: $(BENCHMARKS) ## Run the benchmarks
	$(BIN)/python -m benchmarks $(TOPICS)

# All cells, or some: make coverage CELLS="--families poisson --cells 1000,4,1 --replications 250"
# One of the two targets: make coverage CELLS="--targets plain --populations lpm,poly3_lin"
coverage: $(BENCHMARKS) ## Measure how often intervals cover; can be stopped and taken up again
	$(BIN)/python -m benchmarks coverage --processes $(PROCESSES) $(CELLS)

docs: $(DEVELOPMENT) ## Run every example of the documentation
	$(BIN)/python tools/run_docs.py

dist: $(DEVELOPMENT) ## Build a wheel and run the demo from it in a clean environment
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist .
	$(BIN)/python tools/try_wheel.py dist/*.whl

format: $(DEVELOPMENT) ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove everything that make made
	rm -rf .venv .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis build dist
	find src tests tools -type d -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tacit needs Python 3.11 or newer: make PYTHON=/path/to/python")'
	@echo "installing tacit into .venv"
	@$(PYTHON) -m venv .venv
	@$(PIP) --editable .
	@touch $@

$(DEVELOPMENT): $(INSTALLED)
	@echo "installing the development tools into .venv"
	@$(PIP) --editable '.[dev]'
	@touch $@

$(BENCHMARKS): $(INSTALLED)
	@echo "installing what the benchmarks compare with into .venv"
	@$(PIP) --editable '.[bench]'
	@touch $@
