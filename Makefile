# `make demo` and `make test` need Python 3.11 or newer, make, and a network for the packages.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
CORES ?= all

.PHONY: demo test test-lowest test-slurm lint wheel lock bench clean

demo: $(VENV)/installed # the whole workflow at demo size, on photographs that scikit-image ships
	$(BIN)/snakemake --cores $(CORES) --configfile config/demo.yaml -- all
	$(BIN)/gblsr-repro summary --config results/demo/config.yaml

test: $(VENV)/installed # all tests but those of Slurm and of a GPU
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

test-lowest: # unit and protocol tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet uv
	build/lowest/bin/uv pip install --quiet --python build/lowest/bin/python \
		--resolution lowest-direct --requirement pyproject.toml --all-extras
	build/lowest/bin/python -m pip install --quiet --no-deps --editable .
	build/lowest/bin/snakemake --cores 1 --dry-run -- main_kodak
	build/lowest/bin/python -m pytest -n 2 --dist loadfile tests/unit tests/protocol

test-slurm: $(VENV)/installed # submits to a real one-node Slurm that it starts; needs root, slurm-wlm, munge
	$(BIN)/python -m pytest tests/slurm

lint: $(VENV)/installed # formatting, lint and types of code and workflow
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check -l 100 Snakefile workflow
	$(BIN)/snakemake --lint

bench: $(VENV)/installed # plain against fast paths, side by side
	$(BIN)/python -m benchmarks

wheel: $(VENV)/installed # build the wheel, and upscale a photograph with it in place of the checkout
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	$(BIN)/python -m pip install --quiet --no-deps --target build/wheel/site build/wheel/*.whl
	cd build/wheel && ../../$(BIN)/python -c "import skimage; skimage.io.imsave('photo.png', skimage.data.astronaut())"
	cd build/wheel && PYTHONPATH=$(CURDIR)/build/wheel/site site/bin/gblsr-repro upscale photo.png
	cd build/wheel && PYTHONPATH=$(CURDIR)/build/wheel/site ../../$(BIN)/python -c \
		"import gblsr_repro as used; assert used.__file__.startswith('$(CURDIR)/build/wheel/site/')"

lock: pyproject.toml # pin what pyproject.toml asks for, with hashes; needs uv
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 \
		--generate-hashes --no-annotate --no-header --output-file envs/lock.txt

$(VENV)/installed: pyproject.toml envs/lock.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11."; exit 1; }
	@$(PYTHON) -c 'import platform, sys; sys.exit((platform.system(), platform.machine()) == ("Darwin", "x86_64"))' \
		|| { echo "PyTorch has no packages for Macs with Intel processors (or Python under Rosetta); use Linux or Apple silicon."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--require-hashes --requirement envs/lock.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $@

clean: # remove the environment and the demo's results
	rm -rf $(VENV) results/demo
