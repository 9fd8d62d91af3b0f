# Everything runs in a virtual environment of its own; a fresh machine needs Python 3.11+ and make.
PYTHON ?= $(firstword $(foreach p,python3.11 python3.12 python3.13 python3,$(shell command -v $(p))))
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup demo test chaos check format bench fuzz simulation lock try-dockerfile clean

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Scorebox needs Python 3.11 or newer; set PYTHON=…") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

demo: setup  ## serve, score a real match, and stay until Ctrl-C (DEMO_ARGS=--exit ends it)
	$(BIN)/scorebox demo $(DEMO_ARGS)

test: setup  ## all tests
	$(BIN)/python -m pytest $(TEST_ARGS)

SEEDS ?= 10000
simulation: setup  ## SEEDS histories on a mock clock, with faults from a seed
	$(BIN)/python -m tests.simulation --seeds $(SEEDS) $(SIMULATION_ARGS)

check: setup  ## format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## the table of docs/performance.md, measured on this machine
	$(BIN)/python -m bench $(BENCH_ARGS)

MINUTES ?= 10
SEED ?= 1

chaos: setup  ## faults of every kind on a running server: make chaos SEED=1 MINUTES=10
	$(BIN)/python -m tests.chaos --seed $(SEED) --minutes $(MINUTES)

FUZZ_TARGETS := 10

fuzz: setup  ## coverage-guided fuzzing of what takes bytes from outside: make fuzz MINUTES=10
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris==3.0.0
	$(BIN)/python -m tests.fuzz --seconds $$(( $(MINUTES) * 60 / $(FUZZ_TARGETS) ))

lock: setup  ## pin the newest dependencies that pyproject.toml allows
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet -o requirements.lock

try-dockerfile: setup  ## the Dockerfile's steps in a plain Debian root; takes root and debootstrap
	$(BIN)/python -m tests.docker.try_steps

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
