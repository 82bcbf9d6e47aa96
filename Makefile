# Two commands: `make reproduce` and `make test`. Each sets everything up on a fresh machine.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help reproduce test again stories lint house docs figures format fuzz requests crash crash-small bench wheel constraints clean

VENV := .venv
RUN := $(VENV)/bin/
READY := $(VENV)/.ready
READY_BENCH := $(VENV)/.ready-bench
EVERY := LinUCB-PCB,LinUCB-shared-PCB,UCB-PCB,KL-UCB-PCB,TS-PCB,LinTS-PCB,LinTS-shared-PCB,OAM-PCB,Fused
READY_DOCS := $(VENV)/.ready-docs
COMPILED := $(VENV)/.compiled
# Tests start hundreds of processes: each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

help:  ## Say what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

reproduce: $(READY)  ## The paper end to end: reproduction/report.html
	@$(RUN)boundit reproduce

test: lint $(COMPILED)  ## Lint, then tests and doctests
	$(RUN)pytest -n 2

again: $(READY)  ## The tests that failed last, alone
	$(RUN)pytest --last-failed --last-failed-no-failures none

stories: $(READY)  ## The studio in a real browser: every story, width and scheme
	BOUNDIT_STORIES=all $(RUN)pytest -n 2 tests/studio/stories

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

figures: $(READY)  ## Make the pictures and tables of the README and of the documentation
	$(RUN)python -m tools.figures
	$(RUN)python -m tools.widths
	$(RUN)python -m tools.rivals_page
	$(RUN)python -m tests.studio.stories.pictures

format: $(READY)  ## Format the code and mend what lint can mend
	$(RUN)ruff format .
	$(RUN)ruff check --fix .

fuzz: $(READY)  ## A million hostile inputs to every parser
	$(RUN)python -m tests.fuzz --inputs 1000000

requests: $(READY)  ## Thousands of requests by the OpenAPI document, to a running server
	BOUNDIT_EXAMPLES=1000 $(RUN)pytest tests/service/http/test_operations.py

crash: $(READY)  ## Kill -9 a thousand times under load, engines and databases
	$(RUN)python -m tests.service.crash --store sqlite --kills 500
	$(RUN)python -m tests.service.crash --store postgres --kills 500

crash-small: $(READY)  ## The same a hundred times, as continuous integration does
	$(RUN)python -m tests.service.crash --store sqlite --kills 60
	$(RUN)python -m tests.service.crash --store postgres --kills 40

bench: $(READY_BENCH)  ## Speed beside other libraries, as ratios of one run
	$(RUN)python -m benchmarks

wheel: $(READY)  ## Build what would be released, and try it without this folder
	$(RUN)python -m tests.wheel

constraints:  ## Pin what these commands install to what is newest now
	@bash tools/make_venv.sh build/newest
	@build/newest/bin/python -m pip install --quiet --disable-pip-version-check '.[dev,docs]'
	@build/newest/bin/python -m pip freeze --exclude boundit > build/newest/frozen
	@(head -n 2 constraints.txt; cat build/newest/frozen) > build/newest/constraints.txt
	@mv build/newest/constraints.txt constraints.txt && rm -r build/newest

clean:  ## Remove what was installed and built
	rm -rf $(VENV) build dist site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(READY): pyproject.toml constraints.txt tools/make_venv.sh
	@bash tools/make_venv.sh $(VENV)
	@$(RUN)python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@$(RUN)boundit simulate --rounds 2 --runs 2 --policies $(EVERY) > /dev/null  # compiles
	@touch $@

$(COMPILED): $(READY)
	@$(RUN)python -c 'import boundit; boundit.warm_up()'  # else every worker of the tests would
	@touch $@

$(READY_BENCH): $(READY)
	@$(RUN)python -m pip install --quiet --disable-pip-version-check --editable '.[dev,bench]'
	@touch $@

$(READY_DOCS): $(READY)
	@$(RUN)python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs]'
	@touch $@
