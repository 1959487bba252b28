# make run    set up what is missing, run the workflow, print where the report lies
# make test   set up what is missing, run the tests
# make test-deep  the long tests: many random examples, many kills, memory, Slurm
# make same   compare loaded configurations, plans, and the files of two runs with those of another commit
# make plan   count the jobs and what they would cost, as if all files were there: ARGS="--configfile mine.yaml"
# make resume the same as run, after the machine or the run was killed (takes over the dead run's lock)
# make redo   make results of other code again, of one target with ARGS=prop (docs/report.md)
# make claims   recompute the claims of a finished run from its scores (docs/methods/evaluation.md)
# make checkpoints  list checkpoints of jobs that were broken off; ARGS=--remove removes those that no job goes on from
# make slurm  set up what Slurm clusters need besides (docs/cluster.md)
# make site   set up what it needs, build the documentation as a site in site/
# Variables: PYTHON=python3.12  CORES=4  PROFILE=profiles/slurm  ARGS="--configfile configs/prop-long.yaml"
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
ARGS ?=
VENV ?= .venv
$(if $(filter 1,$(words $(VENV))),,$(error VENV names one folder, without blanks in its name; it is "$(VENV)"))
# How jobs are run: on so many cores of this machine, or as a profile says, on Slurm where its name says so.
PROFILE ?=
HOW = $(if $(PROFILE),--profile $(abspath $(PROFILE)),--cores $(CORES))
# What profiles/default says, without Snakemake's line about it. A flag comes last: ARGS may begin with a target.
USUAL = --workflow-profile none --logger irpretrain --scheduler greedy --rerun-triggers mtime params input software-env --rerun-incomplete
SLURM = $(findstring slurm,$(notdir $(patsubst %/,%,$(PROFILE))))
INSTALLED = environment $(if $(SLURM),slurm)
USERS_PATH := $(PATH)
export PATH := $(if $(SLURM),$(abspath $(VENV))/slurm/bin:)$(abspath $(VENV))/bin:$(PATH)

# The code is this checkout's, also where several checkouts share an environment.
export PYTHONPATH := $(CURDIR)/src$(if $(PYTHONPATH),:$(PYTHONPATH))
# Else every job and every process of the tests would compile the library anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help environment checkpoints claims run plan redo resume same slurm develop test test-deep lint format docs lock site clean
help:
	@sed -n 's/^# //p' Makefile | head -12

# Ends at once where the environment fits. Its own Python is asked first, and no longer starts if what it was made from is gone.
environment:
	@$(PYTHON) -c "" 2>/dev/null || export PATH="$(USERS_PATH)"; $(PYTHON) envs/install.py $(VENV)

slurm: environment
	@$(VENV)/bin/python envs/install.py $(VENV) slurm

# What tests and linters need, in the environment itself.
develop: environment
	@$(VENV)/bin/python envs/install.py $(VENV) develop

# Snakemake would end in a traceback where a configuration file or the folder is missing, or a target was taken for a file.
CHECK = $(if $(ARGS),python -m irpretrain.config.arguments $(ARGS))

# The first scores are those of PROP without fine-tuning.
run: $(INSTALLED)
	@$(CHECK)
	@snakemake $(HOW) $(USUAL) $(if $(ARGS),,--prioritize results/scores/zero-shot.csv) $(ARGS)

plan: environment
	@python -m irpretrain.workflow.costs.plan $(ARGS)

redo: $(INSTALLED)
	@$(CHECK)
	@python -m irpretrain.foundation.other_code $(HOW) $(USUAL) $(ARGS)

resume: $(INSTALLED)
	@$(CHECK)
	@python -m irpretrain.workflow.live_runs $(ARGS)
	@$(if $(SLURM),python -m irpretrain.workflow.cancel $(ARGS))
	@snakemake $(HOW) $(USUAL) --quiet all --unlock $(ARGS)
	@snakemake $(HOW) $(USUAL) $(ARGS)

claims: environment
	@python -m irpretrain.report.recompute $(ARGS)

checkpoints: environment
	@python -m irpretrain.training.leftovers $(ARGS)

# A file goes to one process, for what its tests share, and long files go first. One process more than cores: many tests
# wait, for a run, for Slurm or for what they have killed.
PYTEST = python -m pytest -n $(if $(filter all,$(CORES)),auto,$$(($(CORES) + 1))) --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test: develop
	@$(PYTEST) $(ARGS)

test-deep: develop
	@$(PYTEST) -m "deep or hypothesis" --hypothesis-profile many $(ARGS)

same: environment
	@PYTHONPATH=$(CURDIR)/src:$(CURDIR)/tests/workflow python tests/same.py $(ARGS)

lint: develop
	ruff check . && ruff format --check .
	snakefmt --check Snakefile rules workflow
	python .ci/lint_workflow.py
	mypy
	python .ci/pages --check docs

format: develop
	ruff check --fix-only . ; ruff format . ; snakefmt Snakefile rules workflow

docs: environment
	python .ci/pages docs
	python envs/conda.py

# Hashes of all files of each pinned release. Needs uv.
lock:
	@for lock in requirements.lock envs/develop.lock envs/docs.lock envs/slurm.lock; do \
	  { grep '^#' $$lock && sed '/^#/d; /--hash/d; s/ \\$$//' $$lock | uv pip compile --quiet --no-deps --generate-hashes \
	    --no-header --no-annotate -; } >$$lock.new && mv $$lock.new $$lock || { rm $$lock.new; exit 1; }; done

# Appears whole: make takes a folder for done that a broken installation left.
$(VENV)/docs: envs/docs.lock | environment
	@rm -rf $@ $@.part
	@python -m pip install --quiet --no-deps --require-hashes --target $@.part --requirement envs/docs.lock && touch $@.part && mv $@.part $@

# Not in the environment: the workflow's jobs need none of it.
site: $(VENV)/docs
	@PYTHONPATH=$(abspath $(VENV))/docs NO_MKDOCS_2_WARNING=1 python -m mkdocs build --strict

# Without an environment nothing can run here.
clean:
	@test ! -x $(VENV)/bin/python || python -m irpretrain.workflow.live_runs
	rm -rf results/[!R]* .snakemake site
