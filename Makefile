# Two commands: `make reproduce` and `make test`. Each sets everything up on a fresh machine.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help reproduce test lint house docs format fuzz bench clean

VENV := .venv
RUN := $(VENV)/bin/
READY := $(VENV)/.ready
READY_BENCH := $(VENV)/.ready-bench
EVERY := LinUCB-PCB,LinUCB-shared-PCB,UCB-PCB,KL-UCB-PCB,TS-PCB,LinTS-PCB,LinTS-shared-PCB,OAM-PCB,Fused
READY_DOCS := $(VENV)/.ready-docs

help:  ## Say what can be made
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' Makefile

reproduce: $(READY)  ## The paper end to end: reproduction/report.html
	@$(RUN)boundit reproduce

test: lint  ## Lint, then tests and doctests
	$(RUN)pytest -n 2

lint: $(READY)  ## Format check, lint, types, import contracts
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy
	$(RUN)lint-imports --no-logo

house: $(READY)  ## Draw the rooms and record the walks of docs/house.md
	$(RUN)python -m tools.house

docs: $(READY_DOCS)  ## Build the documentation into site/
	$(RUN)python -m tools.docs
	$(RUN)zensical build --clean

format: $(READY)  ## Format the code and mend what lint can mend
	$(RUN)ruff format .
	$(RUN)ruff check --fix .

fuzz: $(READY)  ## A million hostile inputs to every parser
	$(RUN)python -m tests.fuzz --inputs 1000000

bench: $(READY_BENCH)  ## Speed beside other libraries, as ratios of one run
	$(RUN)python -m benchmarks

clean:  ## Remove what was installed and built
	rm -rf $(VENV) build dist site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml tools/make_venv.sh
	@bash tools/make_venv.sh $(VENV)
	@$(RUN)python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(RUN)boundit simulate --rounds 2 --runs 2 --policies $(EVERY) > /dev/null  # compiles
	@touch $@

$(READY_BENCH): $(READY)
	@$(RUN)python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $@

$(READY_DOCS): $(READY)
	@$(RUN)python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	@touch $@
