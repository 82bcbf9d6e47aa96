# Two commands: `make reproduce` and `make test`. Each sets everything up on a fresh machine.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help reproduce test test-all again stories lint old docs figures format fuzz requests crash crash-small bench wheel constraints clean

VENV := .venv
RUN := $(VENV)/bin/
PIP := $(RUN)python -m pip install --quiet --disable-pip-version-check
READY_PAPER := $(VENV)/.ready-paper
READY := $(VENV)/.ready
READY_BENCH := $(VENV)/.ready-bench
EVERY := LinUCB-PCB,LinUCB-shared-PCB,UCB-PCB,TS-PCB,LinTS-PCB,OAM-PCB,Fused
READY_DOCS := $(VENV)/.ready-docs
COMPILED := $(VENV)/.compiled
OLD := build/old
RELEASE := e78acd1  # 0.2.0
# Tests start hundreds of processes: each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

help:  ## Say what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

reproduce: $(READY_PAPER)  ## The paper end to end: reproduction/report.html
	@$(RUN)boundit reproduce

# Threads of BLAS and OpenMP in two workers would wait for each other.
test test-all again: export OPENBLAS_NUM_THREADS := 1
test test-all again: export OMP_NUM_THREADS := 1

test: lint $(COMPILED)  ## Lint, then quick tests and examples of the docs
	$(RUN)pytest -n 2 -m 'not full'

test-all: $(COMPILED)  ## The rest: browsers, Spark, PostgreSQL, long properties, crash, wheel
	$(RUN)pytest -n 2 -m full
	$(MAKE) crash-small
	$(MAKE) wheel

again: $(READY)  ## The tests that failed last, alone
	$(RUN)pytest --last-failed --last-failed-no-failures none || [ $$? = 5 ]  # 5: none had failed

stories: $(READY)  ## The studio in a real browser: every story, width and scheme
	BOUNDIT_STORIES=all $(RUN)pytest -n 2 tests/studio/stories

lint: $(READY)  ## Format check, lint, types, import contracts
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy
	$(RUN)lint-imports --no-logo

old: $(OLD)/.ready  ## Release 0.2.0 in an environment of its own, build/old: the oracle of comparisons

docs: $(READY_DOCS)  ## Build the documentation into site/
	$(RUN)python -m tools.docs
	$(RUN)zensical build --clean

figures: $(READY)  ## Make the pictures and tables of the README and of the documentation
	$(RUN)python -m tools.figures
	$(RUN)python -m tests.studio.stories.pictures

format: $(READY)  ## Format the code and mend what lint can mend
	$(RUN)ruff format .
	$(RUN)ruff check --fix .

fuzz: $(READY)  ## A million hostile inputs to every parser
	$(RUN)python -m tests.fuzz --inputs 1000000

requests: $(READY)  ## Thousands of requests by the OpenAPI document, to a running server
	BOUNDIT_EXAMPLES=1000 $(RUN)pytest tests/service/http/test_document.py

crash: $(READY)  ## Kill -9 a thousand times under load, engines and databases
	$(RUN)python -m tests.service.crash --store sqlite --kills 500
	$(RUN)python -m tests.service.crash --store postgres --kills 500

crash-small: $(READY)  ## The same a hundred times, as continuous integration does
	$(RUN)python -m tests.service.crash --store sqlite --kills 60
	$(RUN)python -m tests.service.crash --store postgres --kills 40

bench: $(READY_BENCH) old  ## Speed beside release 0.2.0, other libraries and a loop in C
	$(RUN)python -m research.benchmarks

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

$(READY_PAPER): pyproject.toml research/pyproject.toml constraints.txt tools/make_venv.sh
	@bash tools/make_venv.sh $(VENV)
	@$(PIP) --constraint constraints.txt --editable . --editable research
	@$(RUN)boundit simulate --rounds 2 --runs 2 --policies $(EVERY) > /dev/null  # compiles
	@touch $@

$(READY): $(READY_PAPER)
	@$(PIP) --constraint constraints.txt --editable '.[dev]' --editable research
	@touch $@

$(OLD)/.ready:
	@git cat-file -e $(strip $(RELEASE)) 2>/dev/null || { echo 'error: the history lacks release 0.2.0 ($(strip $(RELEASE))); run git fetch --unshallow' >&2; exit 1; }
	@rm -rf $(OLD) && mkdir -p $(OLD)
	@git archive $(strip $(RELEASE)) src tests tools benchmarks docs/data pyproject.toml constraints.txt PACKAGE.md LICENSE | tar -x -C $(OLD)
	@bash tools/make_venv.sh $(OLD)/.venv
	@$(OLD)/.venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint $(OLD)/constraints.txt --editable '$(OLD)[ml,pandas,polars]'
	@touch $@
	@echo 'release 0.2.0 runs as $(OLD)/.venv/bin/python, its tests and benchmarks from $(OLD)'

$(COMPILED): $(READY)
	@$(RUN)python -c 'import boundit; boundit.warm_up()'  # else every worker of the tests would
	@touch $@

$(READY_BENCH): $(READY)
	@$(PIP) --editable '.[dev]' --editable 'research[bench]'
	@touch $@

$(READY_DOCS): $(READY)
	@$(PIP) --constraint constraints.txt --editable '.[dev,docs]' --editable research
	@touch $@
