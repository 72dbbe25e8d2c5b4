# Needs make, Python 3.11 or newer, and a network for the first call. Nothing is installed outside .venv.
#   make PYTHON=python3.12 test     with another Python
#   make test ARGS="-k triage -x"   with words for pytest

PYTHON ?= python3
TORCH ?= torch==2.13.0
ARGS ?=
# Tests run side by side, one process a core: make test JOBS=1 runs them one by one.
JOBS ?= auto

VENV := .venv
PY := $(VENV)/bin/python
ifneq ($(origin PYTHON),file)
CHOSEN := --chosen
endif
SETUP := "$(PYTHON)" tools/setup_venv.py $(CHOSEN)

.DEFAULT_GOAL := help
.PHONY: help setup metrics scispacy demo test test-metrics test-scispacy lint format soak docs lock clean python

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

python:
	@command -v "$(PYTHON)" > /dev/null || { \
	  echo 'judgekit setup: no $(PYTHON) here: install Python 3.11 or newer (Debian, Ubuntu: apt install python3-venv),' \
	       'or name one: make PYTHON=/path/to/python3' >&2; exit 1; }

setup: python  ## .venv from core.lock, and judgekit itself, editable
	@$(SETUP) core.lock

metrics: python  ## setup, then PyTorch and metrics.lock (gigabytes on Linux; see CONTRIBUTING.md)
	@$(SETUP) --torch '$(TORCH)' core.lock metrics.lock

scispacy: python  ## scispaCy in .venv-scispacy, from scispacy.lock (Python 3.11 or 3.12)
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info[:2] > (3, 12))' || { \
	  echo 'judgekit setup: scispaCy needs Python 3.11 or 3.12: make scispacy PYTHON=python3.12' >&2; exit 1; }
	@$(SETUP) --venv .venv-scispacy scispacy.lock

demo: setup  ## the main job on bundled records, with the local judge: no key
	@$(VENV)/bin/judgekit demo

test: setup  ## every test that needs neither PyTorch nor a GPU
	@$(PY) -m pytest -n $(JOBS) --dist loadfile $(ARGS)

# Tests outside tests/metrics that `make test` must skip for want of PyTorch or the metrics' packages.
TORCH_TESTS := tests/stability/test_options.py tests/stability/test_checks.py tests/judging/test_evidence.py \
               tests/analysis/test_tuned.py tests/test_cases.py

test-metrics: metrics  ## the tests of the local metrics and of local models, with their models
	@$(PY) -m pytest -n $(JOBS) --dist loadfile tests/metrics tests/test_packaging.py $(TORCH_TESTS) $(ARGS)

test-scispacy: scispacy  ## the tests that need spaCy, in .venv-scispacy
	@.venv-scispacy/bin/python -m pytest tests/metrics/test_ner.py $(ARGS)

lint: setup  ## ruff and mypy
	@failed=0; \
	for tool in 'ruff check .' 'ruff format --check .' mypy; do $(PY) -m $$tool || failed=1; done; exit $$failed

format: setup  ## mend what ruff can mend
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

soak: setup  ## the slow tests and the statistics' simulations: kills, restarts, thousands of calls, coverage
	@$(PY) -m pytest -m slow $(ARGS)
	@$(PY) bench/soak_statistics.py

docs: setup  ## regenerate docs/help.md and what else the code writes into docs/
	@$(PY) docs/make_help.py
	@$(PY) -m judgekit run --schema > docs/schema/study.schema.json
	@$(PY) -m judgekit data schema > docs/schema/card.schema.json

lock: setup  ## compile the locks anew (UPGRADE=1 moves the pins up)
	@$(PY) tools/make_locks.py $(if $(UPGRADE),--upgrade)

clean:  ## remove .venv and what the tools left
	rm -rf $(VENV) .venv-scispacy .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
