# make run    set up what is missing, run the workflow, print where the report lies
# make test   set up what is missing, run the tests
# make test-deep  the long tests: many random examples, many kills, memory, Slurm
# make plan   count the jobs and what they would cost, as if all files were there: ARGS="--configfile mine.yaml"
# make resume the same as run, after the machine or the run was killed (takes over the dead run's lock)
# make slurm  set up what Slurm clusters need besides (docs/cluster.md)
# make site   set up what it needs, build the documentation as a site in site/
# Variables: PYTHON=python3.12  CORES=4  PROFILE=profiles/slurm  ARGS="--configfile configs/prop-long.yaml"
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
ARGS ?=
VENV ?= .venv
# How jobs are run: on so many cores of this machine, or as a profile says, on Slurm where its name says so.
PROFILE ?=
HOW = $(if $(PROFILE),--profile $(abspath $(PROFILE)),--cores $(CORES))
# What profiles/default says, without Snakemake's line about it.
USUAL = --workflow-profile none --logger irpretrain --scheduler greedy --rerun-incomplete
SLURM = $(findstring slurm,$(notdir $(patsubst %/,%,$(PROFILE))))
INSTALLED = $(VENV)/.installed $(if $(SLURM),$(VENV)/slurm/.installed)
export PATH := $(if $(SLURM),$(abspath $(VENV))/slurm/bin:)$(abspath $(VENV))/bin:$(PATH)

# Else every job and every process of the tests would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run plan resume slurm test test-deep lint format docs site clean
help:
	@sed -n 's/^# //p' Makefile | head -8

$(VENV)/.installed: requirements.lock pyproject.toml envs/install.py
	@$(PYTHON) envs/install.py $(VENV)

$(VENV)/slurm/.installed: $(VENV)/.installed envs/slurm.lock
	@$(VENV)/bin/python envs/install.py $(VENV) slurm

slurm: $(VENV)/slurm/.installed

# Snakemake would end in a traceback where a configuration file or the folder is missing, or a target was taken for a file.
CHECK = $(if $(ARGS),python -m irpretrain.config.arguments $(ARGS))

# The first scores are those of PROP without fine-tuning.
run: $(INSTALLED)
	@$(CHECK)
	@snakemake $(HOW) $(USUAL) $(if $(ARGS),,--prioritize results/scores/zero-shot.csv) $(ARGS)

plan: $(VENV)/.installed
	@python -m irpretrain.costs.plan $(ARGS)

resume: $(INSTALLED)
	@$(CHECK)
	@$(if $(SLURM),python -m irpretrain.cluster.cancel $(ARGS))
	@snakemake $(HOW) $(USUAL) --unlock --quiet all $(ARGS)
	@snakemake $(HOW) $(USUAL) $(ARGS)

# A file goes to one process, for what its tests share, and long files go first.
PYTEST = python -m pytest -n $(if $(filter all,$(CORES)),auto,$(CORES)) --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test: $(VENV)/.installed
	@$(PYTEST) $(ARGS)

test-deep: $(VENV)/.installed
	@$(PYTEST) -m "deep or hypothesis" --hypothesis-profile many $(ARGS)

lint: $(VENV)/.installed
	ruff check . && ruff format --check .
	snakefmt --check Snakefile rules workflow
	python .ci/lint_workflow.py
	mypy
	python -m irpretrain.config.reference --check docs
	python -m irpretrain.contracts_reference --check docs
	python -m irpretrain.catalogue.page --check docs
	python -m irpretrain.claims.page --check docs

format: $(VENV)/.installed
	ruff check --fix-only . ; ruff format . ; snakefmt Snakefile rules workflow

docs: $(VENV)/.installed
	python -m irpretrain.config.reference docs
	python -m irpretrain.contracts_reference docs
	python -m irpretrain.catalogue.page docs
	python -m irpretrain.claims.page docs
	python envs/conda.py

$(VENV)/docs: $(VENV)/.installed envs/docs.lock
	@python -m pip install --quiet --no-deps --upgrade --target $@ --requirement envs/docs.lock && touch $@

# Not in the environment: the workflow's jobs need none of it.
site: $(VENV)/docs
	@PYTHONPATH=$(abspath $(VENV))/docs NO_MKDOCS_2_WARNING=1 python -m mkdocs build --strict

clean:
	rm -rf results/[!R]* .snakemake site
