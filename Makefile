# make run    set up what is missing, run the workflow, print where the report lies
# make test   set up what is missing, run all tests
# make plan   show every job and what it would cost, as if all data were there: ARGS="--configfile configs/paper.yaml"
# make resume the same as run, after the machine or the run was killed (takes over the dead run's lock)
# Variables: PYTHON=python3.12  CORES=4  ARGS="--configfile configs/prop-long.yaml"
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
ARGS ?=
VENV ?= .venv
export PATH := $(abspath $(VENV))/bin:$(PATH)

.PHONY: help run plan resume test lint format docs clean
help:
	@sed -n 's/^# //p' Makefile | head -5

$(VENV)/.installed: requirements.lock pyproject.toml envs/install.py
	@$(PYTHON) envs/install.py $(VENV)

run: $(VENV)/.installed
	@snakemake --cores $(CORES) --quiet host reason --rerun-incomplete $(ARGS)

plan: $(VENV)/.installed
	@python -m irpretrain.costs.plan $(ARGS)

resume: $(VENV)/.installed
	@snakemake --cores $(CORES) --unlock --quiet all $(ARGS)
	@snakemake --cores $(CORES) --quiet host reason --rerun-incomplete $(ARGS)

test: $(VENV)/.installed
	@python -m pytest $(ARGS)

lint: $(VENV)/.installed
	ruff check . && ruff format --check .
	snakefmt --check Snakefile rules
	python .ci/lint_workflow.py
	mypy
	python -m irpretrain.config.reference --check docs
	python -m irpretrain.contracts_reference --check docs
	python -m irpretrain.catalogue.page --check docs

format: $(VENV)/.installed
	ruff check --fix-only . ; ruff format . ; snakefmt Snakefile rules

docs: $(VENV)/.installed
	python -m irpretrain.config.reference docs
	python -m irpretrain.contracts_reference docs
	python -m irpretrain.catalogue.page docs
	python envs/conda.py

clean:
	rm -rf results/[!R]* .snakemake
