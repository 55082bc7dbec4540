package blocks_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// BenchmarkTo computes the confs of all outbounds of one dataplane of the fleet
// from scratch: select, order, concatenate, merge.
func BenchmarkTo(b *testing.B) {
	kind := meshtimeout.Kind()
	for _, n := range []int{100, 1_000, 10_000} {
		policies := shape.Fleet(kind, n)
		editor := match.Empty(semantics.Reading{}).Edit()
		if err := editor.PutAll(policies); err != nil {
			b.Fatal(err)
		}
		index, _, err := editor.Commit()
		if err != nil {
			b.Fatal(err)
		}
		d := shape.Dataplane(7, 100)
		reference := newToReference(kind, d, policies)
		b.Run(fmt.Sprintf("outbounds=100/policies=%d/impl=generated", n), func(b *testing.B) {
			var buffer match.Buffer
			var config *results.Config
			b.ReportAllocs()
			for b.Loop() {
				config = newTable().Evaluate(kind, d, matched.NewMatched(index.Select(d, results.Shadow, &buffer)), nil)
			}
			reference.assert(b, config.Outbounds)
		})
		if n < 10_000 { // an iteration takes half a second or more
			b.Run(fmt.Sprintf("outbounds=100/policies=%d/impl=naive", n), reference.run)
		}
	}
}

// BenchmarkToItems computes the confs of n outbounds from n items, one for each
// outbound, and one item for all of them.
func BenchmarkToItems(b *testing.B) {
	kind := meshtimeout.Kind()
	for _, n := range []int{10, 100, 1_000} {
		p := &resource.Policy{
			Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: "p"}},
			Type:      kind,
			TargetRef: resource.TargetRef{Kind: resource.TargetMesh},
			To:        []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: shape.Timeout(0)}},
		}
		for i := range n {
			p.To = append(p.To, resource.Item{
				TargetRef: resource.TargetRef{Kind: resource.TargetMeshService, Name: shape.Service(i)},
				Conf:      shape.Timeout(i),
			})
		}
		d := shape.Dataplane(7, n)
		reference := newToReference(kind, d, []*resource.Policy{p})
		matched := matched.NewMatched([]results.Selected{{Policy: p}})
		b.Run(fmt.Sprintf("items=%d/impl=generated", n), func(b *testing.B) {
			var config *results.Config
			b.ReportAllocs()
			for b.Loop() {
				config = newTable().Evaluate(kind, d, matched, nil)
			}
			reference.assert(b, config.Outbounds)
		})
		b.Run(fmt.Sprintf("items=%d/impl=naive", n), reference.run)
	}
}

// toReference is the naive reference for a dataplane's outbounds.
type toReference struct {
	kinds *resource.Kinds
	set   *resource.Set
}

func newToReference(kind *resource.Kind, d *resource.Dataplane, policies []*resource.Policy) *toReference {
	return &toReference{resource.NewKinds(kind), &resource.Set{Dataplanes: []*resource.Dataplane{d}, Policies: policies}}
}

func (r *toReference) answer(b *testing.B) map[string]any {
	b.Helper()
	d := r.set.Dataplanes[0]
	answer, err := naive.Inspect(r.kinds, r.set, d.Mesh, d.Namespace, d.Name, naive.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return answer
}

func (r *toReference) run(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r.answer(b)
	}
}

// assert fails unless each outbound has a conf with the same origins as the
// reference.
func (r *toReference) assert(b *testing.B, outbounds []results.OutboundConfig) {
	b.Helper()
	policy := r.answer(b)["policies"].([]any)[0].(map[string]any)
	want := policy["outbounds"].([]any)
	if len(outbounds) != len(want) {
		b.Fatalf("%d outbounds, want %d", len(outbounds), len(want))
	}
	for i, o := range outbounds {
		if o.Effective == nil {
			b.Fatalf("outbound %d has no conf", i)
		}
		var origins []map[string]any
		for _, origin := range o.Origins {
			origins = append(origins, map[string]any{"kri": origin.Policy.KRI(), "index": origin.Index})
		}
		want := want[i].(map[string]any)
		if diff := cmp.Diff(jsonTree(b, map[string]any{"conf": want["conf"], "origins": want["origins"]}),
			jsonTree(b, map[string]any{"conf": o.Conf, "origins": origins})); diff != "" {
			b.Fatalf("outbound %d, -reference +got:\n%s", i, diff)
		}
	}
}

// jsonTree returns v as a plain tree of JSON values.
func jsonTree(b *testing.B, v any) (tree any) {
	b.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &tree)
	}
	if err != nil {
		b.Fatal(err)
	}
	return tree
}
