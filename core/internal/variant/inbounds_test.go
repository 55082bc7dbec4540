package variant_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The sets of random meshes give what a scan of all dataplanes gives: each variant serves the
// dataplanes whose inbounds all choose it, also after dataplanes were added, changed and
// removed.
func TestInboundsFollowEdits(t *testing.T) {
	kind := meshtimeout.Kind()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		engine := core.NewEngine(resource.NewKinds(kind), core.Options{Semantics: core.TargetRef})
		apply := func(b core.Batch) *core.View {
			commit, err := engine.Apply(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			return commit.After
		}
		view := apply(core.Batch{Upsert: &resource.Set{Policies: randomTimeouts(r, kind)}})
		inbounds, served := variant.NewInbounds(view, shape.Mesh), 0
		for range 12 {
			b := core.Batch{Upsert: &resource.Set{}}
			for range 1 + r.IntN(4) {
				d := randomDataplane(r)
				if r.IntN(4) == 0 && view.Dataplane(d.ID) != nil {
					b.Delete = append(b.Delete, d.ID)
				} else if !slices.ContainsFunc(b.Upsert.Dataplanes, func(o *resource.Dataplane) bool { return o.ID == d.ID }) {
					b.Upsert.Dataplanes = append(b.Upsert.Dataplanes, d)
				}
			}
			b.Delete = slices.DeleteFunc(b.Delete, func(id resource.ID) bool {
				return slices.ContainsFunc(b.Upsert.Dataplanes, func(o *resource.Dataplane) bool { return o.ID == id })
			})
			slices.SortFunc(b.Delete, resource.ID.Compare)
			b.Delete = slices.Compact(b.Delete)
			view = apply(b)
			inbounds.Update(view)
			v, err := variant.NewPolicyCompiler(view, shape.Mesh, kind).Compilation(destination(t, "backend")).Compile(variant.MaxPolicyVariants)
			if err != nil {
				t.Fatal(err)
			}
			got, err := inbounds.UsageOf(v)
			if err != nil {
				t.Fatal(err)
			}
			want := scan(v, view)
			if fmt.Sprint(got.Dataplanes, got.Served, named(got.Others)) != fmt.Sprint(want.Dataplanes, want.Served, named(want.Others)) {
				t.Fatalf("seed %d: %d served %v, others %v; want %d, %v, %v", seed, got.Dataplanes, got.Served, named(got.Others), want.Dataplanes, want.Served, named(want.Others))
			}
			for _, n := range got.Served {
				served += n
			}
		}
		if served == 0 {
			t.Errorf("seed %d: no variant serves a dataplane", seed)
		}
	}
}

func named(list []*resource.Dataplane) (names []string) {
	for _, d := range list {
		names = append(names, d.Name)
	}
	return names
}

// scan chooses a variant for each inbound of each dataplane.
func scan(v *variant.PolicyVariants, view *core.View) *variant.Usage {
	u := &variant.Usage{Served: make([]int, v.Set.Len())}
	for _, d := range view.Dataplanes(shape.Mesh) {
		if !slices.ContainsFunc(d.Outbounds, func(o resource.Outbound) bool { return slices.Equal(o.Tags, v.Destination.Tags) }) {
			continue
		}
		u.Dataplanes++
		chosen := map[int]bool{}
		for i := range max(1, len(d.Inbounds)) {
			p := variant.ParametersOf(d, i)
			if d.Gateway != nil {
				for _, tag := range d.Gateway.Tags {
					p[tag.Key] = tag.Value
				}
			}
			of, _ := v.Set.Choose(p)
			chosen[of] = true
		}
		if len(chosen) > 1 {
			u.Others = append(u.Others, d)
			continue
		}
		for of := range chosen {
			u.Served[of]++
		}
	}
	return u
}

func randomTimeouts(r *rand.Rand, kind *resource.Kind) []*resource.Policy {
	var out []*resource.Policy
	for i := range 2 + r.IntN(4) {
		target := []resource.TargetRef{
			{Kind: resource.TargetMesh},
			{Kind: resource.TargetMeshService, Name: fmt.Sprint("s", r.IntN(3))},
			{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(map[string]string{"version": fmt.Sprint("v", r.IntN(2))})},
			{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(map[string]string{"version": resource.AnyValue})},
			{Kind: resource.TargetDataplane, Labels: resource.NewTags(map[string]string{"team": fmt.Sprint("t", r.IntN(2))})},
			{Kind: resource.TargetDataplane, SectionName: "a"},
			{Kind: resource.TargetDataplane, Name: fmt.Sprint("d", r.IntN(9))},
		}[r.IntN(7)]
		out = append(out, &resource.Policy{
			Meta: resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: fmt.Sprint("p", i)}}, Type: kind, TargetRef: target,
			To: []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: shape.Timeout(i)}},
		})
	}
	return out
}

func randomDataplane(r *rand.Rand) *resource.Dataplane {
	tags := func() resource.Tags {
		all := map[string]string{resource.ServiceTag: fmt.Sprint("s", r.IntN(3))}
		if r.IntN(2) == 0 {
			all["version"] = fmt.Sprint("v", r.IntN(3))
		}
		return resource.NewTags(all)
	}
	d := &resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Kind: resource.DataplaneKind, Mesh: shape.Mesh, Name: fmt.Sprint("d", r.IntN(9))}}, Address: "10.0.0.1"}
	if r.IntN(2) == 0 {
		d.Labels = resource.NewTags(map[string]string{"team": fmt.Sprint("t", r.IntN(2))})
	}
	for i := range r.IntN(4) {
		d.Inbounds = append(d.Inbounds, resource.Inbound{Port: uint32(80 + i), Name: []string{"a", "b", "c"}[i], Tags: tags()})
	}
	if len(d.Inbounds) == 0 && r.IntN(2) == 0 {
		d.Gateway = &resource.GatewayProxy{Tags: tags()}
	}
	for i, service := range []string{"backend", "payments"} {
		if r.IntN(4) > 0 {
			d.Outbounds = append(d.Outbounds, resource.Outbound{Port: uint32(9000 + i), Tags: resource.NewTags(map[string]string{resource.ServiceTag: service})})
		}
	}
	return d
}

// BenchmarkUsageOf counts the dataplanes of each of 20 variants. impl=scan chooses a variant for
// each inbound. BenchmarkInbounds makes the sets, and follows an edit of one dataplane.
func BenchmarkUsageOf(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		view, v := usageWorld(b, n)
		inbounds := variant.NewInbounds(view, shape.Mesh)
		b.Run(fmt.Sprintf("dataplanes=%d/impl=sets", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if u, err := inbounds.UsageOf(v); err != nil || u.Dataplanes != n || len(u.Others) > 0 {
					b.Fatal(u, err)
				}
			}
			b.ReportMetric(float64(v.Set.Len()), "variants")
		})
		b.Run(fmt.Sprintf("dataplanes=%d/impl=scan", n), func(b *testing.B) {
			for b.Loop() {
				if u := scan(v, view); u.Dataplanes != n {
					b.Fatal(u.Dataplanes)
				}
			}
		})
	}
}

func BenchmarkInbounds(b *testing.B) {
	view, _ := usageWorld(b, 10_000)
	b.Run("edit=all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			variant.NewInbounds(view, shape.Mesh)
		}
	})
	b.Run("edit=none", func(b *testing.B) {
		inbounds := variant.NewInbounds(view, shape.Mesh)
		b.ReportAllocs()
		for b.Loop() {
			inbounds.Update(view)
		}
	})
}

// usageWorld returns dataplanes of 20 versions and 500 services with an outbound to backend,
// and the variants of 19 policies for the versions.
func usageWorld(b *testing.B, dataplanes int) (*core.View, *variant.PolicyVariants) {
	b.Helper()
	kind := meshtimeout.Kind()
	set := &resource.Set{}
	for i := range 19 {
		set.Policies = append(set.Policies, &resource.Policy{
			Meta: resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: shape.Mesh, Name: fmt.Sprint("p", i)}}, Type: kind,
			TargetRef: resource.TargetRef{Kind: resource.TargetMeshSubset, Tags: resource.NewTags(map[string]string{"version": fmt.Sprint("v", i)})},
			To:        []resource.Item{{TargetRef: resource.TargetRef{Kind: resource.TargetMesh}, Conf: shape.Timeout(i)}},
		})
	}
	backend := []resource.Outbound{{Port: 9000, Tags: resource.NewTags(map[string]string{resource.ServiceTag: "backend"})}}
	for i := range dataplanes {
		set.Dataplanes = append(set.Dataplanes, &resource.Dataplane{
			Meta: resource.Meta{ID: resource.ID{Kind: resource.DataplaneKind, Mesh: shape.Mesh, Name: fmt.Sprint("d", i)}}, Address: "10.0.0.1", Outbounds: backend,
			Inbounds: []resource.Inbound{{Port: 80, Tags: resource.NewTags(map[string]string{resource.ServiceTag: fmt.Sprint("s", i%500), "version": fmt.Sprint("v", i%20)})}},
		})
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(b.Context(), resource.NewKinds(kind), set)
	if err != nil {
		b.Fatal(err)
	}
	v, err := variant.NewPolicyCompiler(view, shape.Mesh, kind).Compilation(variant.Destination{Mesh: shape.Mesh, Tags: backend[0].Tags}).Compile(variant.MaxPolicyVariants)
	if err != nil || v.Set.Len() != 20 {
		b.Fatal(v.Set.Len(), err)
	}
	return view, v
}
