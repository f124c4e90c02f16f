# Everything a contributor runs. Each target sets up .venv first, with the exact packages of requirements.lock.

PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/installed
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
DEMO = $(BIN)/kubectl-policy describe httproute/baker -n baker --offline fixtures/bakery
LOCK = $(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	--no-annotate --no-header --quiet

# Tests start the command hundreds of times, which need not be compiled each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo programs renderers test test-thorough apiserver test-live record lint format bench bench-live lock upgrade clean

help:
	@echo 'make demo     ask about the fixture world: what affects HTTPRoute baker/baker, and why'
	@echo 'make test     run the tests; every branch of the core packages must be covered'
	@echo 'make programs   install Graphviz, a browser, zsh, fish and Mermaid, without which some tests are skipped'
	@echo 'make renderers   build Kustomize and Helm where there is Go, without which some tests are skipped; they are kept'
	@echo 'make test-thorough   the same with thousands of new examples for every law, without coverage'
	@echo 'make test-live   run the tests on a real API server; make apiserver finds one, or builds it where there is Go'
	@echo 'make record   record anew what a real API server answers, which tests/recorded plays back'
	@echo 'make lint     check style, types and the layers'
	@echo 'make format   format the code'
	@echo 'make bench    measure against the budgets (never part of the tests); GROUP=start, lint, gateway, repository or graph for a part; GROUP=growth for how time grows'
	@echo 'make bench-live   measure on a real API server with 10,000 routes, beside kubectl'
	@echo 'make lock     write requirements.lock anew from pyproject.toml; make upgrade takes newer versions'
	@echo 'make clean    remove everything that was made'
	@echo 'Python 3.11 or newer is needed; choose one with make PYTHON=python3.12 ...'

demo: $(STAMP)
	@echo '$$ $(DEMO)'
	@$(DEMO)

programs:
	@.ci/programs

renderers: $(STAMP)
	@$(BIN)/python -m tests.renderers

test: $(STAMP)
	$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal --cov --cov-report=
	@echo 'The core, where every branch must be covered:'
	@$(BIN)/coverage report --fail-under=100

test-thorough: $(STAMP)
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

apiserver: $(STAMP)
	@$(BIN)/python -m tests.live.binaries

test-live: apiserver
	$(BIN)/python -m pytest tests/live --numprocesses=0

record: apiserver
	$(BIN)/python -m tests.recorded.record

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)
	$(BIN)/python -m bench $(GROUP)

bench-live: apiserver
	$(BIN)/python -m bench.live

lock: $(STAMP)
	$(LOCK) --output-file requirements.lock

upgrade: $(STAMP)
	$(LOCK) --upgrade --output-file requirements.lock

clean:
	rm -rf $(VENV) tests/mermaid/node_modules build dist .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests bench -name __pycache__ -prune -exec rm -rf {} +

# --clear: an environment that some older lock, or another Python, left behind is not worth repairing.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=...")'
	$(PYTHON) -m venv --clear $(VENV)
	@# uv, from the same lock, takes a fifth of the time; where it cannot be had, pip does it all.
	@sed -n '/^uv==/,/^[a-z]/p' requirements.lock | sed '$$d' > $(VENV)/uv.lock
	$(PIP) install --no-deps --require-hashes -r $(VENV)/uv.lock \
		&& $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock \
		|| $(PIP) install --require-hashes -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $(STAMP)
