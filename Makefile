# The two commands of a newcomer are `make demo` and `make test`; each does all the set-up it needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# What the project needs of Debian, to build and to test.
PACKAGES := liblua5.4-dev
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
PREFIX ?= /usr/local

.PHONY: help demo test check format docs bench install setup clean

help:
	@echo "make demo     build, then run a push flow on simulated phones"
	@echo "make test     build, then run all tests"
	@echo "make check    format, warnings and tests: what a change must pass"
	@echo "make bench    measure against a rival, print the figures"
	@echo "make install  build for release and install to $(PREFIX)/bin"

demo: setup
	@echo "Building pushhost (the first time takes some minutes) …"
	@swift build --product pushhost
	@ln -sf .build/debug/pushhost pushhost
	@echo
	./pushhost run scripts/notify_users.lua
	@echo
	@echo "That was scripts/notify_users.lua. Change a line of it, or pass an option, and run it again:"
	@echo "  ./pushhost run scripts/notify_users.lua --text \"Your parcel is here\""

test: setup
	@echo "Building everything with its tests (the first time takes some minutes) …"
	@swift build --build-tests
	@swift test --skip-build

check: setup
	@swift format lint --strict --recursive Package.swift Sources Tests
	@$(MAKE) --no-print-directory test

format:
	@swift format format --in-place --recursive Package.swift Sources Tests

docs: setup
	@swift build --product pushhost
	@ln -sf .build/debug/pushhost pushhost
	@python3 docs/refresh.py

bench: setup
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@Benchmarks/startup.sh .build/release/pushhost
	@echo
	@/usr/bin/python3 Benchmarks/crowd.py .build/release/pushhost

install: setup
	@echo "Building for release (the first time takes some minutes) …"
	@swift build --configuration release --product pushhost --static-swift-stdlib
	@$(SUDO) install -d "$(DESTDIR)$(PREFIX)/bin"
	@$(SUDO) install -s -m 755 .build/release/pushhost "$(DESTDIR)$(PREFIX)/bin/pushhost"
	@echo "Installed $(DESTDIR)$(PREFIX)/bin/pushhost"

# Installs the Debian packages that are missing; asks the network only then.
setup:
	@command -v swift >/dev/null || { echo "pushhost needs Swift 6.2 or later: see https://www.swift.org/install/linux/"; exit 1; }
	@missing=""; for package in $(PACKAGES); do \
	  dpkg-query -W -f '$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' || missing="$$missing $$package"; \
	done; \
	if [ -n "$$missing" ]; then \
	  echo "Installing$$missing …"; \
	  { $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null \
	    || { echo "Could not install$$missing: run 'apt-get install$$missing' as root, then try again."; exit 1; }; \
	fi

clean:
	@rm -rf .build pushhost
