# Every target sets up what it needs: a virtual environment in .venv and the compiled package in it.
# The second run of a target does only what has changed since the first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
STAMPS := $(VENV)/.stamps
CORE := CMakeLists.txt pyproject.toml $(wildcard core/*.hpp core/*/*.* core/*/*/*.*)

# Tests start hundreds of interpreters: keep their bytecode, even where the environment says not to.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all sanitize sanitize-address sanitize-thread fuzz lint format bench docs build wheel clean
.DEFAULT_GOAL := demo

demo: build ## train on part of the demo corpus, test on the rest, explain a document
	$(BIN)/widemargin demo

test: lint ## lint, types, layers and every test that is not slow
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow"

test-all: lint sanitize fuzz wheel ## the slow experiments too, sanitizers, a minute of fuzzing, and the wheel
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
	for script in $(filter-out benchmarks/scale.py,$(wildcard benchmarks/[a-z]*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# In a fresh environment, with nothing but that environment on the path: no compiler.
wheel: $(STAMPS)/tools ## the sdist and the wheel in dist/, which are tried where there is no compiler
	$(PIP) install --group wheel
	rm -rf dist build/wheel
	$(BIN)/python -m build --outdir build/wheel
	@mkdir -p dist && cp build/wheel/*.tar.gz dist/
	if [ "$$(uname)" = Linux ]; then \
		PATH=$(abspath $(BIN)):$$PATH $(BIN)/auditwheel repair --wheel-dir dist build/wheel/*.whl; \
	else cp build/wheel/*.whl dist/; fi
	$(PYTHON) -m venv build/wheel/fresh
	build/wheel/fresh/bin/python -m pip --disable-pip-version-check --quiet install dist/*.whl
	cd build/wheel && env -i PATH=$(abspath build/wheel/fresh/bin) HOME=$(abspath build/wheel) \
		fresh/bin/python $(abspath tests/smoke.py)

docs: build $(STAMPS)/docs ## regenerate docs/cli.md from the commands' own help, build the site in build/site
	$(BIN)/python -m widemargin.cli.reference docs/cli.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet

build: $(STAMPS)/package

# The names after a key of pyproject.toml, for pip. The pip of a new environment may be too old to read groups.
listed = $(PYTHON) -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))$(1), sep='\n')"

$(STAMPS)/venv:
	@echo "Creating the virtual environment in $(VENV)"
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/tools: $(STAMPS)/venv pyproject.toml
	@echo "Installing the build tools"
	$(call listed,['dependency-groups']['build']) > $(STAMPS)/tools.txt
	$(PIP) install --upgrade pip -r $(STAMPS)/tools.txt
	@touch $@

# Two installations at once, since compiling takes both cores and downloading takes neither. Modules are compiled to
# bytecode when they are first imported: most never are.
$(STAMPS)/package: $(STAMPS)/tools $(CORE)
	@echo "Installing what the package needs, compiling its core"
	$(call listed,['project']['dependencies']) > $(STAMPS)/requirements.txt
	$(PIP) install --no-compile -r $(STAMPS)/requirements.txt & needs=$$!; \
	$(PIP) install --no-build-isolation --no-deps -e . && wait $$needs
	$(BIN)/python -c "import widemargin._core"
	@touch $@

$(STAMPS)/lint: $(STAMPS)/tools
	@echo "Installing the linters and the test tools"
	$(PIP) install --group lint --group test
	@touch $@

$(STAMPS)/docs: $(STAMPS)/tools
	@echo "Installing what builds the documentation"
	$(PIP) install --group docs
	@touch $@

$(STAMPS)/bench: $(STAMPS)/package
	@echo "Installing the peers that the benchmarks compare with"
	$(PIP) install --group bench
	@touch $@

clean:
	rm -rf $(VENV) build dist
