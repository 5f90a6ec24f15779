# One verb each. `make demo` and `make test` need only Debian 12 and Swift 6.3.
PREFIX ?= /usr/local
MANDIR ?= $(PREFIX)/share/man
ARGS ?= --help
MINUTES ?= 20

.PHONY: all setup build release run test check fuzz sanitize format demo bench soak install clean

all: build

setup: ## install what is missing (apt)
	.ci/setup build test

build: ## debug build
	swift build

release: ## one binary that needs no Swift to run
	.ci/setup build
	swift build -c release --static-swift-stdlib --product syncagent

run: ## run the debug build: make run ARGS="status"
	swift build --product syncagent
	.build/debug/syncagent $(ARGS)

test: ## set up, build and run all tests
	.ci/test

check: ## lint; writes nothing
	.ci/check

fuzz: ## feed the parsers with made-up bytes, SECONDS (60) for each: make fuzz SECONDS=600 ENTRIES="url head"
	.ci/fuzz $(or $(SECONDS),60) $(ENTRIES)

sanitize: ## all tests under the thread and the address sanitizer
	.ci/sanitize

format: ## format all Swift files in place
	swift format --in-place --recursive Package.swift Sources Tests

demo: ## mirror from a bad origin, be killed, resume, prove it
	.ci/demo

soak: ## kill it and lie to it for MINUTES, from SEED: make soak MINUTES=20 SEED=1
	swift build --product syncagent
	swift build --product soak
	.build/debug/soak --seconds $$(($(MINUTES) * 60)) $(if $(SEED),--seed $(SEED))

bench: ## measure against a local nginx
	.ci/bench

install: release ## install below PREFIX
	install -D -m 755 .build/release/syncagent $(DESTDIR)$(PREFIX)/bin/syncagent
	install -D -m 644 docs/syncagent.1 $(DESTDIR)$(MANDIR)/man1/syncagent.1

clean:
	rm -rf .build demo.tmp
