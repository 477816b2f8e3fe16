# Each target is complete by itself on a fresh clone: make, gcc, g++ and Python 3.11+ with venv are all it needs; test
# needs Java 17 and Maven too, which it installs where it is root and there is apt.
#   make demo    install into .venv, compile word count, run it on a book, show the result
#   make test    install with the test tools, lint, check types, run the tests, also jobs on a Hadoop that is started for them
#   make long    the tests that take long and that few changes break: docs/tests.md says which; the native ones on a sanitizer
#                build
#   make check   what a change breaks most often, in three minutes: lint, types, and the tests of CHECKED
#   make portable  the demo, and the tests that depend on versions, the C library or locales
#   make plugin  build the Hadoop plug-in's jar and run its JUnit tests
#   make lint    ruff and mypy only
#   make bench   bench.embedded at its full size (512 MiB of text, 10 minutes); results go into docs/benchmarks.md
#   make docs    write the parts of docs/ that come from tables of the code
#   make clean   remove everything that the others made

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

# The tests start thousands of Pythons, and each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
DEMO := build/demo
NATIVE := $(shell find runtime/host runtime/hostlane -name '*.cpp' -o -name '*.h')
PLUGIN := $(shell find runtime/hadoop -name target -prune -o -type f -print)
# docs/tests.md says why these.
CHECKED := tests/test_layers.py tests/docs tests/diag tests/test_cli.py tests/test_manifest.py tests/compiler tests/codegen \
	tests/cases/test_programs.py tests/cases/test_order.py tests/cases/test_input_text.py tests/scheduler tests/storage \
	tests/executor tests/engine/run/test_local.py
PORTABLE := tests/toolchain \
	tests/runtime/device/test_device_library.py tests/runtime/math/test_libm.py tests/runtime/math/test_libm_filters.py \
	tests/compiler/source/test_frontend.py tests/compiler/source/test_header_folders.py tests/compiler/test_stdio_buffers.py \
	tests/compiler/emit/test_emit_host.py tests/codegen tests/cases/test_numbers.py tests/cases/test_programs.py \
	tests/native/test_process.py tests/native/test_native_parts.py tests/apps/test_apps.py
INSTALL_INPUTS := setup.py pyproject.toml heterodoop/toolchain/native.py $(NATIVE)

# The first Python that is new enough and can make virtual environments (Debian splits ensurepip off: python3-venv).
FIND_PYTHON = for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
	if "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	command -v "$$python"; exit 0; fi; done; \
	echo "Python 3.11 or newer with venv is needed (Debian, Ubuntu: apt install python3 python3-venv)" >&2; exit 1

.PHONY: collected demo test long check portable plugin lint bench docs clean tools browser hadoop-tools

demo: $(VENV)/installed
	rm -rf $(DEMO)
	mkdir -p $(DEMO)
	$(BIN)/heterodoop compile apps/wordcount -o $(DEMO)/wordcount.hdp
	$(BIN)/heterodoop run $(DEMO)/wordcount.hdp apps/wordcount/sample.txt -o $(DEMO)/out
	@echo; echo "First lines of the result:"; head -n 6 $(DEMO)/out/part-00000
	@echo; echo "Most frequent words:"; sort -t$$'\t' -k2,2nr $(DEMO)/out/part-00000 | sed -n 1,6p
	@cmp $(DEMO)/out/part-00000 apps/wordcount/expected.txt
	@echo; echo "The whole result: $(DEMO)/out/part-00000 (equal to apps/wordcount/expected.txt)"

# Maven waits, mypy uses one core: together they take half of the time. What pytest makes of the tests' asserts is kept beside
# them: each of its workers would do it again.
test:
	$(MAKE) --no-print-directory --jobs=4 --output-sync=target lint plugin collected
	$(BIN)/python -m tests.whole

long: browser
	$(MAKE) --no-print-directory --jobs=4 --output-sync=target plugin collected $(VENV)/sanitized/libhd_host.so
	$(BIN)/python -m tests.whole --long $(VENV)/sanitized/libhd_host.so

collected: $(VENV)/installed-dev
	@$(BIN)/python -m pytest --collect-only --quiet --quiet

check: lint
	$(BIN)/python -m tests.in_memory -q -n auto -k 'not nvcc' $(CHECKED)

portable: demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'heterodoop[dev]'
	$(BIN)/python -m tests.in_memory -n auto --durations=20 $(PORTABLE)

plugin: $(VENV)/plugin-tested

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/installed-bench
	$(BIN)/python -m bench.embedded --page docs/benchmarks.md

docs: $(VENV)/installed
	$(BIN)/python docs/generate.py

clean:
	rm -rf $(VENV) build dist heterodoop.egg-info heterodoop/_native .pytest_cache .mypy_cache .ruff_cache .hypothesis

tools:
	@for tool in gcc g++; do command -v $$tool >/dev/null || \
	{ echo "$$tool is needed (Debian, Ubuntu: apt install gcc g++)" >&2; exit 1; }; done

# Java 17 or newer with a compiler, and Maven. Newer distributions have no Java 17; any that they have as default will do.
JAVA_PACKAGE = $$(apt-cache show openjdk-17-jdk-headless >/dev/null 2>&1 && echo openjdk-17-jdk-headless || \
	echo default-jdk-headless)

browser: $(VENV)/installed-browser
	@if ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null; then \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; \
	else echo "Chromium is needed (Debian, Ubuntu: apt install chromium)" >&2; exit 1; fi; fi

hadoop-tools:
	@if ! { command -v javac && command -v mvn; } >/dev/null; then \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(JAVA_PACKAGE) maven; \
	else echo "Java 17 and Maven are needed (Debian, Ubuntu: apt install openjdk-17-jdk-headless maven)" >&2; exit 1; fi; fi

$(VENV)/created: | tools
	@python="$$($(FIND_PYTHON))"; echo "$$python -m venv $(VENV)"; "$$python" -m venv --clear $(VENV)
	touch $@

# One editable install for demo, test and bench. Extras by its name: by its path, pip would build the native runtime again.
$(VENV)/installed: $(VENV)/created $(INSTALL_INPUTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

# Of these most is never imported, and the rest is compiled when it is.
$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile 'heterodoop[dev,nvcc]'
	touch $@

$(VENV)/installed-browser: $(VENV)/installed-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'heterodoop[browser]'
	touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'heterodoop[bench]'
	touch $@

# The jar that jobs on Hadoop take along, once its JUnit tests have passed.
$(VENV)/plugin-tested: $(PLUGIN) heterodoop/toolchain/plugin.py | hadoop-tools $(VENV)/installed
	$(BIN)/python -m heterodoop.toolchain.plugin --test
	touch $@

$(VENV)/sanitized/libhd_host.so: heterodoop/toolchain/native.py $(NATIVE) | $(VENV)/installed
	HETERODOOP_SANITIZE=1 CXX='$(CXX) -Werror' $(BIN)/python -m heterodoop.toolchain.native -o $@
