# Every target sets up what it needs: a virtual environment in .venv and the compiled package in it.
# The second run of a target does only what has changed since the first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
STAMPS := $(VENV)/.stamps
CORE := CMakeLists.txt pyproject.toml $(wildcard core/*)

.PHONY: demo test test-all lint format bench docs build clean
.DEFAULT_GOAL := demo

demo: build ## train on part of the demo corpus, test on the rest, explain a document
	$(BIN)/widemargin demo

test: lint ## lint, types, layers and every test that is not slow
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

test-all: lint ## the slow experiments too
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: build $(STAMPS)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror core/*.hpp core/*.cpp
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMPS)/lint ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i core/*.hpp core/*.cpp

bench: build $(STAMPS)/bench ## every benchmark: each prints ratios against a named peer
	for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: build ## regenerate docs/cli.md from the commands' own help
	$(BIN)/python -m widemargin.cli.reference docs/cli.md

build: $(STAMPS)/package

$(STAMPS)/venv:
	@echo "Creating the virtual environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/tools: $(STAMPS)/venv pyproject.toml
	@echo "Installing the build tools"
	$(PIP) install --group build
	@touch $@

$(STAMPS)/package: $(STAMPS)/tools $(CORE)
	@echo "Installing what the package needs, compiling its core"
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > $(STAMPS)/requirements.txt
	$(PIP) install -r $(STAMPS)/requirements.txt
	$(PIP) install --no-build-isolation --no-deps -e .
	$(BIN)/python -c "import widemargin._core"
	@touch $@

$(STAMPS)/lint: $(STAMPS)/venv pyproject.toml
	@echo "Installing the linters and the test tools"
	$(PIP) install --group lint --group test
	@touch $@

$(STAMPS)/bench: $(STAMPS)/package
	@echo "Installing the peers that the benchmarks compare with"
	$(PIP) install --group bench
	@touch $@

clean:
	rm -rf $(VENV) build dist
