package stories

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// A story shows the effect of one kind.
type story struct {
	kind, name string
	semantics  semantics.Semantics
	// mesh is YAML. Addresses from 127.0.0.1 to 127.0.0.254 become addresses of a network of
	// the run, and the directory /run/mesh becomes one of the run. The workload of a
	// dataplane listens at the serviceAddress of its inbound if the dataplane has a proxy, and
	// otherwise at the address of the inbound itself.
	mesh string
	// proxies are the dataplanes that get an Envoy.
	proxies []string
	// down are the dataplanes whose workload does not run.
	down []string
	// silent are the dataplanes whose address neither accepts nor refuses connections.
	silent []string
	// impostors are the SPIFFE IDs in the certificates of dataplanes that have another
	// one than their own.
	impostors map[string]string
	steps     []step
	// lacking are the outcomes of steps that are others with older Envoys, by their names.
	lacking map[string]lacking
}

// A step is something that is done in a story, and what is seen.
type step struct {
	name          string
	do            func(*world) string
	want, without string
}

// lacking is the outcome of a step with an Envoy that lacks a capability (core/VERSIONS.md).
type lacking struct {
	capability.Set
	want, without string
}

// with returns a step of the story for a client.
func (s *story) with(c xds.Client, x step) step {
	if o, ok := s.lacking[x.name]; ok && !c.Has(o.Set) {
		x.want, x.without = o.want, o.without
	}
	return x
}

// stories are the stories of all kinds.
var stories = slices.Concat(
	meshAccessLogStories,
	meshCircuitBreakerStories,
	meshFaultInjectionStories,
	meshHTTPRouteStories,
	meshHealthCheckStories,
	meshLoadBalancingStrategyStories,
	meshMetricStories,
	meshPassthroughStories,
	meshProxyPatchStories,
	meshRateLimitStories,
	meshRetryStories,
	meshTCPRouteStories,
	meshTLSStories,
	meshTimeoutStories,
	meshTraceStories,
	meshTrafficPermissionStories,
)

// TestMain lets more stories run at a time than there are processors: they wait most
// of their time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestStories(t *testing.T) {
	envoytest.Path(t)
	for _, s := range stories {
		t.Run(s.kind+"/"+s.name, func(t *testing.T) {
			t.Parallel()
			t.Run("with", func(t *testing.T) {
				t.Parallel()
				s.run(t, translators.All(), func(x step) string { return x.want })
			})
			t.Run("without", func(t *testing.T) {
				t.Parallel()
				s.run(t, allBut(s.kind), func(x step) string { return x.without })
			})
		})
	}
}

// allBut returns the translators of all kinds but one.
func allBut(kind string) []xds.Translator {
	return slices.DeleteFunc(translators.All(), func(t xds.Translator) bool { return t.Kind == kind })
}

func (s *story) run(t *testing.T, list []xds.Translator, expected func(step) string) {
	w, client := start(t, s, list), envoytest.Client(t)
	for _, x := range s.steps {
		x = s.with(client, x)
		w.expected = expected(x)
		if got := x.do(w); got != w.expected {
			t.Errorf("%s: got %q, want %q", x.name, got, w.expected)
		}
	}
	if t.Failed() {
		for name, proxy := range w.proxies {
			if log := proxy.Log(); log != "" {
				t.Logf("%s: %s", name, log)
			}
		}
	}
}

// A story in which both runs look the same shows nothing.
func TestStoriesShowAnEffect(t *testing.T) {
	for _, s := range stories {
		if !slices.ContainsFunc(s.steps, func(x step) bool { return x.want != x.without }) {
			t.Errorf("%s/%s: every step expects the same with and without the kind", s.kind, s.name)
		}
	}
}

func TestEachKindHasAStory(t *testing.T) {
	for _, kind := range kinds.All().All() {
		if !slices.ContainsFunc(stories, func(s story) bool { return s.kind == kind.Name }) {
			t.Errorf("there is no story of %s", kind.Name)
		}
	}
}
