package translators_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// A `from` of 60 items divides clients into more groups than a rule view has, and its
// last item selects all clients. If an inbound sees no tags, the conf of clients without
// tags applies to all, and the view is not computed; else the kind is left out, with a
// warning (SPEC 5.5).
func TestFromPastTheLimit(t *testing.T) {
	confs := []string{"connectionTimeout: %ds", "idleTimeout: %ds", "http: {requestTimeout: %ds}", "http: {streamIdleTimeout: %ds}"}
	var items []string
	for i := range 60 {
		items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {key%d: v}}, default: {%s}}", i, fmt.Sprintf(confs[i%len(confs)], i+1)))
	}
	mesh := `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}
---
{type: MeshTimeout, name: all, spec: {from: [{default: {connectionTimeout: 777s, http: {requestTimeout: 888s}}}, ` + strings.Join(items, ", ") + "]}}\n"
	const identity = "---\n{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, provider: %s}}\n"
	for name, c := range map[string]struct {
		provider string
		applies  bool
	}{
		"no identity":               {"", true},
		"certificates without tags": {"{type: Spire}", true},
		"certificates with tags":    {"{type: Extension, extension: {name: files, config: {certificate: /a, privateKey: /b, trustBundle: /c}}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			text := mesh
			if c.provider != "" {
				text += fmt.Sprintf(identity, c.provider)
			}
			view := coretest.View(t, text)
			built := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view).Snapshot(view.Dataplanes("default")[0], xds.Envoy)
			leftOut := false
			for _, w := range built.Warnings() {
				leftOut = leftOut || strings.Contains(w.Diagnostic().Error(), "MeshTimeout is left out on this inbound")
			}
			values := map[string]bool{}
			for _, value := range fields(t, built) {
				values[value] = true
			}
			if applied := values["777s"] && values["888s"]; applied != c.applies || leftOut == c.applies {
				t.Errorf("applies: %t, is left out: %t", applied, leftOut)
			}
		})
	}
}

// counted is a conf type that counts merges.
type counted struct {
	resource.ConfType
	merges *atomic.Int64
}

func (c counted) NewMerger() resource.Merger {
	c.merges.Add(1)
	return c.ConfType.NewMerger()
}

// The rule view of an inbound's clients is computed once for all translators of the
// inbound. One that passes its limit ends early: 260 items with five fields need more
// than 10,000 rules, and half a million merges to find them (SPEC 5.5).
func TestWorkOfFromPastTheLimit(t *testing.T) {
	var merges atomic.Int64
	all := kinds.BuiltIn()
	for _, kind := range all {
		if kind.Name == "MeshTimeout" {
			kind.From.Conf = counted{kind.From.Conf, &merges}
		}
	}
	loader := resource.Loader{Kinds: resource.NewKinds(all...)}
	confs := []string{"connectionTimeout: %ds", "idleTimeout: %ds", "http: {requestTimeout: %ds}", "http: {streamIdleTimeout: %ds}", "http: {maxStreamDuration: %ds}"}
	for _, keys := range []int{2, 20, 260} {
		t.Run(fmt.Sprintf("%d keys", keys), func(t *testing.T) {
			var items []string
			for i := range 260 {
				items = append(items, fmt.Sprintf("{targetRef: {kind: MeshSubset, tags: {key%d: v%d}}, default: {%s}}", i%keys, i/keys, fmt.Sprintf(confs[i%len(confs)], i+1)))
			}
			set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(`
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}
---
{type: MeshIdentity, name: i, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Extension, extension: {name: files, config: {certificate: /a, privateKey: /b, trustBundle: /c}}}}}
---
{type: MeshTimeout, name: all, spec: {from: [` + strings.Join(items, ", ") + "]}}\n")})
			if err != nil {
				t.Fatal(err)
			}
			view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
			if err != nil {
				t.Fatal(err)
			}
			web := view.Dataplanes("default")[0]
			config, err := view.Config(web, "MeshTimeout", core.Enforced)
			if err != nil {
				t.Fatal(err)
			}
			merges.Store(0)
			var limit *results.LimitError
			if _, err := config.Inbounds[0].From.Ordered(partition.Limits{}); !errors.As(err, &limit) || limit.Limit.Resource != partition.RulesResource {
				t.Fatalf("got the error %v, want one of the number of rules", err)
			}
			once := merges.Swap(0)
			if once > 60_000 {
				t.Errorf("%d merges before the view was given up", once)
			}
			snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view).Snapshot(web, xds.Envoy)
			if n := merges.Load(); n != once {
				t.Errorf("a snapshot takes %d merges, and its one view %d", n, once)
			}
		})
	}
}
