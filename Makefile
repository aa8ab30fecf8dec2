# Tasks for contributors. `make help` lists them.

# A pipe fails if any of its commands fails.
SHELL       := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help

GO       ?= go
ARGS     ?=
BENCH    ?= .
FUZZTIME ?= 30s
PKG      ?= ./...
RUN      ?= .
OUT      ?= bin/
COMMIT   ?= $(shell git describe --exclude=* --always --dirty 2>/dev/null)

# The linter is built once per version of it and of Go. It is not a dependency of the module.
LINT_VERSION  := $(shell sed -n 's|^\tgithub.com/golangci/golangci-lint/v2 \(v[0-9.]*\).*|\1|p' tools/go.mod)
GOLANGCI_LINT ?= .cache/golangci-lint-$(LINT_VERSION)-$(shell $(GO) env GOVERSION)
LINT_SOURCE   := github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# The race detector needs a C compiler. Without one, tests run without the race detector and a message says so.
RACE ?= $(if $(shell command -v "$$($(GO) env CC)"),-race $(NO_RACE))

# modernc.org/sqlite is C code compiled to Go. With the race detector it would take most of a test run, and its races
# are not ours to find: it locks as the C code does. The packages that it uses stay instrumented. They share generic
# code such as sync.Map with all other packages, and uninstrumented generic code would hide synchronization and cause
# false reports. The allocator is C code as well, and modernc.org/libc serializes it with a single lock.
NO_RACE := "-gcflags=modernc.org/sqlite/lib=-race=false -d=checkptr=0" "-gcflags=modernc.org/memory=-race=false -d=checkptr=0" -gcflags=modernc.org/libc=-d=checkptr=0

# Runs a command with a temporary Postgres, or with the one in TEST_DATABASE_URL.
WITHPG := $(GO) run ./internal/pgtest/withpg --

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# It runs the program of `make build`, so that nothing is compiled twice.
.PHONY: run
run: ## Run the server from source with SQLite (ARGS: more flags of serve)
	@stale=$$(CGO_ENABLED=0 $(GO) list -trimpath -f '{{.Stale}}' modernc.org/sqlite 2>/dev/null); [ "$$stale" != true ] || \
		echo "make run: the first time it is compiled, which takes some minutes" >&2
	@$(MAKE) --no-print-directory build
	@exec $(OUT)caldav-mcp-server serve $(ARGS)

# With the race detector, every program sleeps for a second before it exits, in case another goroutine still runs.
# That is once for each of fifty packages; a twentieth of it is enough.
RACE_ENV := $(if $(RACE),CGO_ENABLED=1) GORACE="$$GORACE atexit_sleep_ms=50"

# The race detector makes tests six times slower. So it watches packages with goroutines (WATCHED), and in PARTLY, which
# mostly test rules and formats, the tests of ATONCE, which run once more. Of the store's contract it watches the groups
# with goroutines (Lease, Outbox, Prune, User, Writers). CALM are the other groups and the store's tests of files,
# migrations and plans, which run without it.
# `make lint` runs vet, so the tests need not. Collecting garbage less often saves a sixth of a compiler's time, and half
# as much of a test's.
WATCHED := /(acme|auth|auth/oauth|calendar/(meter|mirror|query)|linked/(caldav|token)|mail|mcp/wire|push|server|store/db|trace|web/live)$$
PARTLY  := /(calendar/service|mcp|caldav|web)$$
ATONCE  := AtOnce|NoticedOnce|KeepUp|BookedOnce|Writers|WhileRightsChange|AfterRevocation|Listen|Stream|CancelEnds|ManyProcesses|Sessions
CALM    := TestContract//^[^LOPUW]|Backup[^I]|Broken|Check|CopiesWait|Damage|Disk|Journal|Migrate[^AL]|Packed|Plan|Proposals|Restore|SQLite|Shrink|Words

.PHONY: test
test: ## Run all tests on SQLite and on a temporary Postgres, with the race detector (PKG: packages)
	@$(if $(RACE),,echo "make test: no C compiler here, so without the race detector" >&2)
	GOGC=$${GOGC:-400} $(WITHPG) bash -c 'all=$$($(GO) list $(PKG)) || exit; \
		tests() { local which=$$1; shift; [ -z "$$which" ] || $(GO) test -vet=off -timeout 20m "$$@" $$which; }; \
		watching() { $(RACE_ENV) tests "$$@" $(RACE); }; \
		store=$$(grep -E "/store$$" <<<"$$all"); partly=$$(grep -E "$(PARTLY)" <<<"$$all"); \
		watched=$$(grep -E "$(WATCHED)" <<<"$$all"); plain=$$(grep -Ev "/store$$|$(WATCHED)" <<<"$$all"); \
		watching "$$watched" && watching "$$store" -skip "$(CALM)" && tests "$$store" -run "$(CALM)" && \
		watching "$$partly" -run "$(ATONCE)" && tests "$$plain"'

.PHONY: torture
torture: ## Run the slow tests, too (TORTURE: which parts, RUN: a pattern, PKG; TORTURE_FOR=30m, TORTURE_SEED, TORTURE_SHARE=3)
	TORTURE=$(or $(TORTURE),all) $(WITHPG) $(GO) test -count=1 -p 1 -timeout 2h -run='$(RUN)' $(ARGS) $(PKG)

.PHONY: soak
soak: ## Let a day of many users pass at both engines, with kills and an upgrade from 0.1.0 (SOAK=2h, SOAK_USERS=500)
	SOAK=$(or $(SOAK),2h) SOAK_USERS=$(or $(SOAK_USERS),500) $(GO) test -count=1 -v -timeout 24h -run='^TestSoak$$' \
		./cmd/caldav-mcp-server

.PHONY: check
check: lint test ## Run everything that must pass before a change is proposed

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Check formatting and go.mod, and run the linters, which include vet and the architecture rules
	$(GO) mod verify
	$(GO) mod tidy -diff
	$(GOLANGCI_LINT) fmt --diff
	$(GOLANGCI_LINT) run ./...
	$(GO) run ./internal/prose

.PHONY: linter
linter: $(GOLANGCI_LINT)

.PHONY: format
format: $(GOLANGCI_LINT) ## Format the code for lint
	$(GOLANGCI_LINT) fmt

$(GOLANGCI_LINT):
	mkdir -p $(@D)
	cd tools && nice $(GO) build -p 2 -trimpath -o $(abspath $@) $(LINT_SOURCE)

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (30s) each
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sort | while IFS=: read -r file target; do \
		echo "== $$(dirname "$$file") $${target#func }"; \
		$(GO) test -run='^$$' -fuzz="^$${target#func }$$" -fuzztime=$(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
	done

.PHONY: bench
bench: ## Run the benchmarks on both engines (BENCH: a pattern, PKG: packages)
	$(WITHPG) $(GO) test -run='^$$' -bench='$(BENCH)' -benchmem $(PKG)

.PHONY: bench-table
bench-table: ## Compare both engines with the limits of this machine and with other servers (ARGS: -duration, -rounds, -peer …)
	$(GO) run ./bench/table $(ARGS)

# The build is reproducible: it contains no paths, dates or build IDs.
.PHONY: build
build: ## Build the static binary bin/caldav-mcp-server (COMMIT: the commit in its version)
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=false -ldflags '-s -w -buildid= -X main.commit=$(COMMIT)' \
		-o $(OUT) ./cmd/caldav-mcp-server

.PHONY: release
release: ## Build and test binaries, packages, image, SBOM and checksums in dist/ (ARGS: more flags)
	cd tools/release && $(GO) run . -root ../.. $(ARGS)

.PHONY: module
module: ## Write the module path of a repository into the source, for go install (MODULE=github.com/someone/name)
	$(GO) run ./internal/modulepath $(MODULE)

.PHONY: compat
compat: ## Run real clients against the server on both engines
	ERRANDS=all compat/run
	ERRANDS=all compat/run --engine postgres

.PHONY: screenshots
screenshots: ## Write the pictures in docs/pictures from demo data
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ ./cmd/caldav-mcp-server
	PICTURES=$(CURDIR)/docs/pictures compat/with-server bin/caldav-mcp-server bash -c \
		'exec compat/pages "$$COMPAT_CALDAV" "$$COMPAT_USER" "$$COMPAT_PASSWORD"'

.PHONY: clean
clean: ## Remove build results
	rm -rf bin dist .cache
