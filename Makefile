# Every target sets up what it needs in .venv; nothing is installed outside of it.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
READY_TORCH := .venv/.ready-torch
READY_REAL := .venv/.ready-real
FORMATS := pytest pytest-timeout pytest-rerunfailures hypothesis datumaro datasets webdataset \
  pyquaternion cachetools matplotlib tqdm scikit-learn pycocotools shapely descartes fire 'pydantic<2' toml requests psutil pandas scikit-image \
  motmetrics plyfile tabulate nanoid boto3

.PHONY: install demo test test-real test-apart check bench bench-full clean
.DEFAULT_GOAL := test

install: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "instar needs Python 3.10 or newer: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "Python's venv is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing instar and what its tests need into .venv ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

demo: $(READY_TORCH)
	$(BIN)/instar demo --out demo

test: $(READY)
	$(BIN)/python -m pytest -n auto

test-real: $(READY_REAL)
	$(BIN)/python -m pytest -m real

# What fits into no environment with our other tools: torchvision wants the torch that it was built for, some
# gigabytes, and MLServer has its own versions, as have the tools of data sets, three of which ask for too much.
test-apart: $(READY_REAL)
	$(PYTHON) -m venv .venv-torchvision
	.venv-torchvision/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,torchvision]'
	.venv-torchvision/bin/python -m pytest -m real -k "torchvision or leads_to_verdicts and (10 or 11)" tests/campaigns/test_system_names.py tests/docs/test_systems_page.py
	$(PYTHON) -m venv .venv-mlserver
	.venv-mlserver/bin/python -m pip install --quiet --disable-pip-version-check mlserver .
	INSTAR_MLSERVER=$(CURDIR)/.venv-mlserver/bin/python $(BIN)/python -m pytest -m real -k mlserver tests/quality/test_same_verdicts.py
	$(PYTHON) -m venv .venv-formats
	.venv-formats/bin/python -m pip install --quiet --disable-pip-version-check $(FORMATS) .
	.venv-formats/bin/python -m pip install --quiet --disable-pip-version-check --no-deps nuscenes-devkit==1.2.0 scalabel==0.3.1 cityscapesscripts==2.3.0
	PYTHONPATH=src:tests .venv-formats/bin/python -m pytest -m real tests/scenes/test_tools.py

$(READY_TORCH): $(READY)
	@echo "Installing torch for what needs it, such as explanations ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,torch]'
	@touch $(READY_TORCH)

$(READY_REAL): $(READY_TORCH)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,torch,peers,libraries]'
	@# They ask for more than they need: zennit and onnx2torch for torchvision, Triton's wheel for numpy 1.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps zennit==0.5.1 onnx2torch==1.5.15
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps nvidia-pytriton==0.7.0 || echo "There is no Triton for this platform; its test is skipped."
	@touch $(READY_REAL)

check: $(READY_TORCH)  # whose types are checked too
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/core/test_imports.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(READY)
	$(BIN)/python benchmarks/start_up.py
	$(BIN)/python benchmarks/case_cost.py
	$(BIN)/python benchmarks/detection_cost.py
	$(BIN)/python benchmarks/task_overhead.py --seconds 2
	$(BIN)/python benchmarks/synthesis.py --seconds 4
	$(BIN)/python benchmarks/campaign_speed.py
	$(BIN)/python benchmarks/worker_cost.py
	$(BIN)/python benchmarks/memory.py --most 1000
	$(BIN)/python benchmarks/text_cost.py
	$(BIN)/python benchmarks/driving_cost.py
	$(BIN)/python benchmarks/street_world.py speed
	$(BIN)/python benchmarks/million_cases.py --cases 10000
	@$(BIN)/python -c 'import torch' 2>/dev/null && $(BIN)/python benchmarks/interpretation_cost.py || echo "benchmarks/interpretation_cost.py needs the extra torch"
	$(BIN)/python benchmarks/workbench_speed.py $$(mktemp -d)/run 10000

bench-full: bench
	$(BIN)/python benchmarks/task_overhead.py --seconds 60
	$(BIN)/python benchmarks/synthesis.py --seconds 120
	$(BIN)/python benchmarks/synthesis.py --seconds 120 --processes 2
	$(BIN)/python benchmarks/memory.py
	$(BIN)/python benchmarks/million_cases.py
	@$(BIN)/python -c 'import ray' 2>/dev/null && $(BIN)/python benchmarks/actors_speed.py || echo "benchmarks/actors_speed.py needs the extra ray"
	$(BIN)/python benchmarks/workbench_speed.py
	$(BIN)/python benchmarks/scale_model.py validate
	$(BIN)/python benchmarks/scale_model.py
	@$(BIN)/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null && $(BIN)/python benchmarks/gpu_speed.py || echo "benchmarks/gpu_speed.py needs a GPU"

clean:
	rm -rf .venv .venv-* demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
