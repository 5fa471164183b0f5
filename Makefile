# Every target sets up what it needs: a virtual environment in .venv and the compiled package in it.
# The second run of a target does only what has changed since the first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
STAMPS := $(VENV)/.stamps
CORE := CMakeLists.txt pyproject.toml $(wildcard core/*.hpp core/*/*.* core/*/*/*.*)

.PHONY: demo test test-all sanitize sanitize-address sanitize-thread fuzz lint format bench docs build clean
.DEFAULT_GOAL := demo

demo: build ## train on part of the demo corpus, test on the rest, explain a document
	$(BIN)/widemargin demo

test: lint ## lint, types, layers and every test that is not slow
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

test-all: lint sanitize fuzz ## the slow experiments too, the core under sanitizers, and a minute of fuzzing
	$(BIN)/python -m pytest -n auto --dist loadfile

# What runs the core most.
SANITIZED_TESTS := tests/test_threads.py tests/learn tests/estimate/test_leave_one_out.py \
	tests/learn/svm/test_left_out_kernel.py tests/text tests/weight tests/features tests/fuzz
RUNTIME = $(shell g++ -print-file-name=$(1)) $(shell g++ -print-file-name=libstdc++.so)

sanitize: sanitize-address sanitize-thread ## the core's tests under ASan + UBSan, then under TSan (needs GCC)

sanitize-address: build/sanitize-address/_core.stamp $(STAMPS)/lint
	LD_PRELOAD="$(call RUNTIME,libasan.so)" WIDEMARGIN_SANITIZED_CORE=build/sanitize-address PYTHONMALLOC=malloc \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	$(BIN)/python -m pytest -p tests.sanitized_core -p no:cacheprovider -m "not slow" $(SANITIZED_TESTS)

# Without random addresses, which older runtimes of TSan do not understand.
sanitize-thread: build/sanitize-thread/_core.stamp $(STAMPS)/lint
	LD_PRELOAD="$(call RUNTIME,libtsan.so)" WIDEMARGIN_SANITIZED_CORE=build/sanitize-thread OPENBLAS_NUM_THREADS=1 \
	TSAN_OPTIONS=halt_on_error=1:suppressions=tests/tsan.supp \
	setarch -R $(BIN)/python -m pytest -p tests.sanitized_core -p no:cacheprovider -m "not slow" $(SANITIZED_TESTS)

build/sanitize-address/_core.stamp: SANITIZERS := address,undefined
build/sanitize-thread/_core.stamp: SANITIZERS := thread
build/sanitize-%/_core.stamp: $(CORE) | build
	@echo "Compiling the core with -fsanitize=$(SANITIZERS)"
	$(BIN)/cmake -S . -B $(@D) -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja -DCMAKE_CXX_COMPILER=g++ \
		-DPython_EXECUTABLE=$(abspath $(BIN))/python -DWIDEMARGIN_SANITIZE=$(SANITIZERS) > $(STAMPS)/cmake.log
	$(BIN)/cmake --build $(@D)
	@touch $@

fuzz: build $(STAMPS)/lint ## a minute of mutated files, models and matrices; SEED=n repeats a run
	$(BIN)/python -m tests.fuzz --seconds 60 $(if $(SEED),--seed $(SEED))

lint: build $(STAMPS)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror core/*.hpp core/*/*.hpp core/*/*/*.hpp core/*/*.cpp core/*/*/*.cpp
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMPS)/lint ## rewrite the sources in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i core/*.hpp core/*/*.hpp core/*/*/*.hpp core/*/*.cpp core/*/*/*.cpp

bench: build $(STAMPS)/bench ## every benchmark: each prints ratios against a named peer
	for script in benchmarks/[a-z]*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

docs: build $(STAMPS)/docs ## regenerate docs/cli.md from the commands' own help, build the site in build/site
	$(BIN)/python -m widemargin.cli.reference docs/cli.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

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

$(STAMPS)/docs: $(STAMPS)/venv pyproject.toml
	@echo "Installing what builds the documentation"
	$(PIP) install --group docs
	@touch $@

$(STAMPS)/bench: $(STAMPS)/package
	@echo "Installing the peers that the benchmarks compare with"
	$(PIP) install --group bench
	@touch $@

clean:
	rm -rf $(VENV) build dist
