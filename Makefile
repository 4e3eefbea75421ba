# Start with `make demo` or `make test`: each does all the setup it needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Debian packages needed to build and, below, to test and benchmark.
PACKAGES := liblua5.4-dev libsqlite3-dev libexpat1-dev libroaring-dev libnghttp2-dev tzdata
TEST_PACKAGES := lua-check python3 python3-venv curl openssl nghttp2-client nghttp2-server procps postgresql
COUNT_PACKAGES := valgrind
DELIVERY_PACKAGES := nghttp2-client libssl-dev openssl
HTTP_PACKAGES := golang-go golang-github-mattn-go-sqlite3-dev wrk
TRANSACTIONAL_PACKAGES := golang-go golang-github-mattn-go-sqlite3-dev golang-golang-x-net-dev libssl-dev openssl python3
PLUGIN_PACKAGES := nginx-light libnginx-mod-http-lua lua-cjson wrk
HUB_BENCH_PACKAGES := postgresql python3
# Azure clients from PyPI, which tests run against the served hub; fetched once.
PYTHON := .build/python
CLIENTS := Tests/EndToEnd/Clients/requirements.txt
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PREFIX ?= /usr/local

# A full run needs about a fifth of this on two processors.
TEST_TIME ?= 35m

# Number of tests at a time. If all ran at once, tests that wait for other processes would time out.
WIDTH := SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$(or $(SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH),12)

# A finding ends the program at once. Leak detection is off: Swift stores some references shifted or with tag bits, so that their
# targets look leaked, and one test leaks on purpose.
SANITIZER_OPTIONS := TSAN_OPTIONS=halt_on_error=1 ASAN_OPTIONS=detect_leaks=0

.PHONY: help demo test examples check sanitize format docs bench bench-http bench-lua bench-lua-check build-bench-lua bench-storage bench-hub bench-delivery bench-transactional bench-plugins bench-budgets install test-installed unit setup setup-tests clean

help:
	@echo "make demo     build, then run a push flow on simulated phones"
	@echo "make test     build, then run all tests"
	@echo "make check    format, warnings and tests: what a change must pass"
	@echo "make sanitize the tests of the Lua machine under the thread and the address sanitizer"
	@echo "make format   format all Swift files"
	@echo "make docs     write the generated reference pages and the program output in the docs"
	@echo "make clean    delete everything that was built"
	@echo "make bench    measure startup, compared with Python, and a large flow"
	@echo "make bench-lua        the same for the Lua machine alone; bench-lua-check: fail beyond a goal"
	@echo "make bench-http       CPU time and memory per request, compared with a Go server"
	@echo "make bench-delivery   CPU time per push, compared with h2load, aioapns, firebase-admin and pywebpush"
	@echo "make bench-transactional  CPU time and latency of one notification to one user, compared with a Go server"
	@echo "make bench-storage    sends stored per second, compared with SQLite alone"
	@echo "make bench-plugins    cost of hooks, loading and routes of plugins, compared with nginx and Lua"
	@echo "make bench-budgets    time and memory of runs that exceed their budgets"
	@echo "make bench-hub        evaluation of tag expressions, compared with PostgreSQL and SQLite"
	@echo "make install  build for release, install to $(PREFIX)/bin with shell completion and a service for systemd"

demo: setup
	@echo "Building pushhost (the first time takes a few minutes) …"
	@swift build --product pushhost
	@ln -sf .build/debug/pushhost pushhost
	@echo
	./pushhost run scripts/notify_users.lua
	@echo
	@echo "That was scripts/notify_users.lua. Change a line of it, or pass an option, and run it again:"
	@echo "  ./pushhost run scripts/notify_users.lua --text \"Your parcel is here\""

test: setup setup-tests
	@echo "Building everything with its tests (the first time takes a few minutes) …"
	@swift build --build-tests
	@$(MAKE) --no-print-directory examples
	@$(WIDTH) $(call run_tests)

# The package of an extended program, which tests run. It shares the build folder of PushHost.
EXAMPLE := Examples/NativePlugins
examples:
	@[ -e $(EXAMPLE)/Package.resolved ] || [ ! -e Package.resolved ] || cp Package.resolved $(EXAMPLE)
	@swift build --package-path $(EXAMPLE) --scratch-path .build --disable-build-manifest-caching

check: setup
	@swift format lint --strict --recursive Package.swift Sources Tests Benchmarks Examples
	@$(MAKE) --no-print-directory test

# SKIP excludes suites: make sanitize SKIP=AttackTests
SANITIZERS ?= thread address
sanitize:
	@$(foreach sanitizer,$(SANITIZERS),echo "The Lua machine under the $(sanitizer) sanitizer" && \
	  PUSHHOST_PART=machine $(SANITIZER_OPTIONS) swift test --sanitize $(sanitizer) --scratch-path .build/sanitize-$(sanitizer) \
	    --disable-xctest --filter LuaTests $(if $(SKIP),--skip '$(SKIP)') &&) true

format:
	@swift format format --in-place --recursive Package.swift Sources Tests Benchmarks Examples

docs: setup
	@swift build --product pushhost
	@ln -sf .build/debug/pushhost pushhost
	@./pushhost reference lua > docs/reference/lua.md
	@./pushhost reference errors > docs/reference/errors.md
	@./pushhost reference phases > docs/reference/phases.md
	@./pushhost reference settings > docs/reference/settings.md
	@python3 docs/refresh.py

bench: setup
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@Benchmarks/startup.sh .build/release/pushhost
	@echo
	@/usr/bin/python3 Benchmarks/crowd.py .build/release/pushhost

# Only the Lua targets: no external packages, and other builds are unaffected.
LUA_BENCHMARK := .build/bench-lua/release/LuaBenchmark

bench-lua: build-bench-lua
	@$(LUA_BENCHMARK)
	@/usr/bin/python3 Benchmarks/Lua/instructions.py $(LUA_BENCHMARK)

# Only instruction counts, which do not depend on the load of the machine.
bench-lua-check: build-bench-lua
	@$(call install_missing,$(COUNT_PACKAGES))
	@/usr/bin/python3 Benchmarks/Lua/instructions.py --check $(LUA_BENCHMARK)

build-bench-lua: setup
	@PUSHHOST_PART=bench swift build --configuration release --scratch-path .build/bench-lua --product LuaBenchmark

# Storage of a hub. FOLDER=/somewhere measures another disk.
FOLDER ?= .build/bench-storage/data
bench-storage: setup
	@PUSHHOST_PART=bench-storage swift build --configuration release --scratch-path .build/bench-storage --product StorageBenchmark
	@.build/bench-storage/release/StorageBenchmark "$(FOLDER)"

# Targeting of a hub: the index alone, then compared with rivals. Rivals that cannot be installed are skipped with a message.
HUB_BENCHMARK := .build/bench-hub/release/HubBenchmark
bench-hub: setup
	@($(call install_missing,$(HUB_BENCH_PACKAGES))) || true
	@PUSHHOST_PART=bench-hub swift build --configuration release --scratch-path .build/bench-hub --product HubBenchmark
	@$(HUB_BENCHMARK)
	@/usr/bin/python3 Benchmarks/Hub/rivals.py $(HUB_BENCHMARK) .build/bench-hub/data

# Cost of a request, compared with a Go server; then the storage of a hub with 64 writers.
bench-http: setup
	@$(call install_missing,$(HTTP_PACKAGES))
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@cd Benchmarks/HTTP/rival && GO111MODULE=off GOPATH=/usr/share/gocode go build -tags libsqlite3 -o ../../../.build/bench-http/rival .
	@/usr/bin/python3 Benchmarks/HTTP/cost.py .build/release/pushhost .build/bench-http/rival .build/bench-http/data
	@echo
	@PUSHHOST_PART=bench-storage swift build --configuration release --scratch-path .build/bench-storage --product StorageBenchmark
	@.build/bench-storage/release/StorageBenchmark .build/bench-http/data hub

# Cost of a push, compared with h2load and, where installed, aioapns. Client and sink have a processor each.
bench-delivery: setup
	@$(call install_missing,$(DELIVERY_PACKAGES))
	@PUSHHOST_PART=bench-delivery swift build --configuration release --scratch-path .build/bench-delivery --product DeliveryBenchmark
	@cc -O2 -Wall -Wextra -o .build/bench-delivery/sink Benchmarks/Delivery/sink.c -lnghttp2 -lssl -lcrypto
	@/usr/bin/python3 Benchmarks/Delivery/cost.py .build/bench-delivery/release/DeliveryBenchmark .build/bench-delivery/sink $(PYTHON)/bin/python

# CPU time and latency of one notification to one user, compared with a Go server; 4 minutes. A short run: ROUNDS=1 SECONDS=0.5.
TRANSACTIONAL := .build/bench-transactional
bench-transactional: setup
	@$(call install_missing,$(TRANSACTIONAL_PACKAGES))
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@mkdir -p $(TRANSACTIONAL)
	@cd Benchmarks/Transactional/rival && GO111MODULE=off GOPATH=/usr/share/gocode go build -tags libsqlite3 -o ../../../$(TRANSACTIONAL)/rival .
	@cc -O2 -Wall -Wextra -o $(TRANSACTIONAL)/sink Benchmarks/Delivery/sink.c -lnghttp2 -lssl -lcrypto
	@cc -O2 -Wall -Wextra -o $(TRANSACTIONAL)/load Benchmarks/Transactional/load.c
	@cc -O2 -Wall -Wextra -o $(TRANSACTIONAL)/watch Benchmarks/Transactional/watch.c -lsqlite3
	@/usr/bin/python3 Benchmarks/Transactional/cost.py .build/release/pushhost $(TRANSACTIONAL) $(TRANSACTIONAL)/data $(or $(ROUNDS),5) $(or $(SECONDS),1.25)

# Cost of plugins: hooks in the hub, loading fifty plugins, and a route compared with nginx and Lua.
bench-plugins: setup
	@$(call install_missing,$(PLUGIN_PACKAGES))
	@PUSHHOST_PART=bench-plugins swift build --configuration release --scratch-path .build/bench-plugins --product PluginBenchmark
	@.build/bench-plugins/release/PluginBenchmark
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@/usr/bin/python3 Benchmarks/Plugins/routes.py .build/release/pushhost .build/bench-plugins/data
	@/usr/bin/python3 Benchmarks/Plugins/reload.py .build/release/pushhost .build/bench-plugins/data
	@/usr/bin/python3 Benchmarks/Plugins/memory.py .build/release/pushhost .build/bench-plugins/data

# Budgets of runs: scripts in loops over functions of the host must end in time.
bench-budgets: setup
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@/usr/bin/python3 Benchmarks/Budgets/bounds.py .build/release/pushhost

install: setup
	@echo "Building for release (the first time takes a few minutes) …"
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@$(SUDO) install -d "$(DESTDIR)$(PREFIX)/bin"
	@$(SUDO) install -s -m 755 .build/release/pushhost "$(DESTDIR)$(PREFIX)/bin/pushhost"
	@$(call install_completion,bash,share/bash-completion/completions,pushhost)
	@$(call install_completion,zsh,share/zsh/site-functions,_pushhost)
	@$(call install_completion,fish,share/fish/vendor_completions.d,pushhost.fish)
	@$(SUDO) install -d "$(DESTDIR)$(PREFIX)/lib/systemd/system"
	@$(MAKE) --no-print-directory unit | $(SUDO) install -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/lib/systemd/system/pushhost.service"
	@echo "Installed $(DESTDIR)$(PREFIX)/bin/pushhost, with completion for bash, zsh and fish, and a service for systemd"

# Runs the tests of the program on the one installed by `make install`, because the optimizer must not change its behaviour.
# SUITES='Kill|Security' selects the suites whose names contain one of these words. The modules are those of the program; suites that
# start it as a process are in EndToEndTests.
SUITES ?=
PROGRAM_TESTS := EndToEnd|PushHost|PushServer|PushLab|PushRuntime
test-installed:
	@$(WIDTH) PUSHHOST_TESTED="$(abspath $(DESTDIR)$(PREFIX)/bin/pushhost)" $(call run_tests,--filter '^($(PROGRAM_TESTS))Tests[.]$(if $(SUITES),[A-Za-z]*($(SUITES)))')

# Prints the systemd service as it is installed.
unit:
	@sed 's|@BINDIR@|$(PREFIX)/bin|' Packaging/pushhost.service

# Arguments: the shell, the folder below the prefix, the name of the file.
install_completion = set -o pipefail; $(SUDO) install -d "$(DESTDIR)$(PREFIX)/$(2)" && \
  .build/release/pushhost --generate-completion-script $(1) | $(SUDO) install -m 644 /dev/stdin "$(DESTDIR)$(PREFIX)/$(2)/$(3)"

# Repeats the failures at the end. Tests that hang are ended and listed.
run_tests = timeout --foreground --kill-after 30 $(TEST_TIME) swift test --skip-build $(1) 2>&1 | tee .build/tests.log; \
	  status=$${PIPESTATUS[0]}; \
	  [ $$status != 124 ] || { echo; pkill -KILL -f "$(CURDIR)/.build/[^ ]*/PushHostPackageTests.xctest"; \
	    echo "The tests did not end within $(TEST_TIME). Tests still running, longest first (the end of the log may be missing, so the last ones may have finished):"; /usr/bin/python3 Tests/unended.py .build/tests.log; }; \
	  [ $$status = 0 ] || { echo; echo "Failures (from .build/tests.log):"; grep -aE '^(✘|↳|error:)|Fatal error' .build/tests.log | cut -c1-2000; }; \
	  exit $$status

setup:
	@command -v swift >/dev/null || { echo "pushhost needs Swift 6.2 or later: see https://www.swift.org/install/linux/"; exit 1; }
	@$(call install_missing,$(PACKAGES))

setup-tests:
	@$(call install_missing,$(TEST_PACKAGES))
	@cmp -s $(CLIENTS) $(PYTHON)/requirements.txt || { \
	  echo "Fetching the Python clients of $(CLIENTS) into $(PYTHON) …"; \
	  rm -rf $(PYTHON) && /usr/bin/python3 -m venv $(PYTHON) && $(PYTHON)/bin/pip install --quiet --requirement $(CLIENTS) && \
	    cp $(CLIENTS) $(PYTHON)/requirements.txt \
	    || { echo "Could not fetch them: this needs PyPI, once. Then try again."; exit 1; }; \
	}

# Installs missing Debian packages; uses the network only if there are any.
install_missing = missing=""; for package in $(1); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  echo "Installing$$missing …"; \
	  { $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null \
	    || { echo "Could not install$$missing: run 'apt-get install$$missing' as root, then try again."; exit 1; }; \
	fi

clean:
	@rm -rf .build pushhost
