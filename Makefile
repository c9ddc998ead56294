# `make demo` and `make test` need Python 3.11 or newer and make, nothing else.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
CORES ?= all

.PHONY: demo test test-slurm lint bench clean

demo: $(VENV)/installed ## the whole workflow at demo size, on photographs that scikit-image ships
	$(BIN)/snakemake --cores $(CORES) --configfile config/demo.yaml -- all
	$(BIN)/gblsr-repro summary --config results/demo/config.yaml

test: $(VENV)/installed ## unit, protocol and workflow tests
	$(BIN)/python -m pytest -n 2

test-slurm: $(VENV)/installed ## submits to a real one-node Slurm that it starts; needs root, slurm-wlm, munge
	$(BIN)/python -m pytest tests/slurm

lint: $(VENV)/installed ## formatting, lint and types of code and workflow
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check -l 100 Snakefile workflow
	$(BIN)/snakemake --lint

bench: $(VENV)/installed ## plain against fast paths, side by side
	$(BIN)/python -m benchmarks

$(VENV)/installed: pyproject.toml envs/constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint envs/constraints.txt --editable '.[workflow,dev]'
	touch $@

clean: ## remove the environment and the demo's results
	rm -rf $(VENV) results/demo
