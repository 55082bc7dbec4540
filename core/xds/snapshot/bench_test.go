package snapshot_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	resourcev3 "github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// fleetOutbounds is the number of outbounds of each dataplane of the fleet.
const fleetOutbounds = 10

// filesIdentity returns a MeshIdentity for all dataplanes, with certificates in files.
func filesIdentity(b testing.TB) *resource.Set {
	b.Helper()
	identity, err := (&resource.Loader{Kinds: kinds.All()}).Decode(b.Context(), resource.Input{Name: "identity.yaml", Data: []byte(`
type: MeshIdentity
mesh: ` + shape.Mesh + `
name: files
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: "/sa/{{ label \"app\" }}"}
  provider:
    type: Extension
    extension: {name: files, config: {certificate: /certs/cert.pem, privateKey: /certs/key.pem, trustBundle: /certs/ca.pem}}
`)})
	if err != nil {
		b.Fatal(err)
	}
	return identity
}

// fleet returns an engine with dataplanes of the shape "fleet", 100 MeshTimeouts, and
// an identity for each dataplane.
func fleet(b *testing.B, dataplanes int) *core.Engine {
	b.Helper()
	identity := filesIdentity(b)
	all := kinds.All()
	set := &resource.Set{Objects: identity.Objects, Policies: shape.Fleet(all.Lookup("MeshTimeout"), 100)}
	for j := range dataplanes {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(j, fleetOutbounds))
	}
	engine := core.NewEngine(all, core.Options{Semantics: core.TargetRef})
	if _, err := engine.Apply(b.Context(), core.Batch{Upsert: set}); err != nil {
		b.Fatal(err)
	}
	return engine
}

// buildAll builds the snapshots of all dataplanes, on all processors.
func buildAll(state *snapshot.State) []*snapshot.Snapshot {
	dataplanes := state.View().Dataplanes(shape.Mesh)
	snapshots := make([]*snapshot.Snapshot, len(dataplanes))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(dataplanes); i += workers {
				snapshots[i] = state.Snapshot(dataplanes[i], xds.Envoy)
			}
		})
	}
	group.Wait()
	return snapshots
}

// BenchmarkSnapshot builds the snapshot of one dataplane of a view whose other
// snapshots are there, and asks for one that is unchanged.
func BenchmarkSnapshot(b *testing.B) {
	engine := fleet(b, 1000)
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
	state := builder.At(engine.View())
	kept := buildAll(state)
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		dataplanes := state.View().Dataplanes(shape.Mesh)
		for i := 0; b.Loop(); i++ {
			d := dataplanes[i%len(dataplanes)]
			builder.Forget(d.ID)
			if got := state.Snapshot(d, xds.Envoy); len(got.Resources(wire.ClusterType)) < fleetOutbounds {
				b.Fatal("clusters are missing")
			}
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		b.ReportAllocs()
		d := state.View().Dataplanes(shape.Mesh)[7]
		want := state.Snapshot(d, xds.Envoy)
		for b.Loop() {
			if state.Snapshot(d, xds.Envoy) != want {
				b.Fatal("the snapshot is another one")
			}
		}
	})
	runtime.KeepAlive(kept)
}

// BenchmarkFleet builds all snapshots of a fleet from nothing, with mutual TLS. The
// heap is the memory of the snapshots, for each dataplane; the peer has the same resources as
// messages of their own for each node, as go-control-plane's snapshot cache keeps them.
func BenchmarkFleet(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		engine := fleet(b, n)
		view := engine.View()
		b.Run(fmt.Sprintf("dataplanes=%d/impl=meshmatch", n), func(b *testing.B) {
			for b.Loop() {
				before := usage.Heap()
				builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
				snapshots := buildAll(builder.At(view))
				b.StopTimer()
				b.ReportMetric((usage.Heap()-before)/float64(n), "B/dataplane")
				marshalled, made := builder.Builds()
				b.ReportMetric(float64(marshalled)/float64(n), "marshalled/dataplane")
				b.ReportMetric(float64(made)/float64(n), "resources/dataplane")
				runtime.KeepAlive(snapshots)
				b.StartTimer()
			}
		})
		if n > 1000 {
			continue
		}
		b.Run(fmt.Sprintf("dataplanes=%d/impl=go-control-plane", n), func(b *testing.B) {
			snapshots := buildAll(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view))
			for b.Loop() {
				before := usage.Heap()
				cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
				for i, s := range snapshots {
					fill(b, cache, fmt.Sprint(i), s)
				}
				b.StopTimer()
				b.ReportMetric((usage.Heap()-before)/float64(n), "B/dataplane")
				runtime.KeepAlive(cache)
				b.StartTimer()
			}
		})
	}
}

// fill puts a snapshot into a cache of the peer.
func fill(b *testing.B, cache cachev3.SnapshotCache, node string, s *snapshot.Snapshot) {
	b.Helper()
	resources := map[resourcev3.Type][]types.Resource{}
	for t := range wire.Type(wire.NumTypes) {
		for _, r := range s.Resources(t) {
			m, err := message.Decode(r)
			if err != nil {
				b.Fatal(err)
			}
			resources[t.URL()] = append(resources[t.URL()], m)
		}
	}
	snapshot, err := cachev3.NewSnapshot("1", resources)
	if err == nil {
		err = cache.SetSnapshot(b.Context(), node, snapshot)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRebuild changes one resource of a fleet of 1,000 and builds all snapshots
// again. The metrics count the resources that were marshalled, and of them those whose
// content is new.
func BenchmarkRebuild(b *testing.B) {
	timeout := func(seconds string) *resource.Policy {
		set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(b.Context(), resource.Input{Name: "p.yaml", Data: []byte(`
type: MeshTimeout
mesh: default
name: zz-for-all
spec: {to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: ` + seconds + `}}}]}
`)})
		if err != nil {
			b.Fatal(err)
		}
		return set.Policies[0]
	}
	endpoint := func(n int) *resource.Dataplane {
		d := shape.Dataplane(3, fleetOutbounds)
		d.Name, d.Address = "joins", fmt.Sprintf("10.200.0.%d", n)
		return d
	}
	for _, c := range []struct {
		name   string
		change func(i int) *resource.Set
	}{
		{"policy", func(i int) *resource.Set {
			return &resource.Set{Policies: []*resource.Policy{timeout(fmt.Sprintf("%ds", 30+i%2))}}
		}},
		{"endpoint", func(i int) *resource.Set {
			return &resource.Set{Dataplanes: []*resource.Dataplane{endpoint(1 + i%2)}}
		}},
	} {
		b.Run("change="+c.name, func(b *testing.B) {
			engine := fleet(b, 1000)
			builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
			if _, err := engine.Apply(b.Context(), core.Batch{Upsert: c.change(1)}); err != nil {
				b.Fatal(err)
			}
			kept := buildAll(builder.At(engine.View()))
			var marshalled, made int64
			for i := 0; b.Loop(); i++ {
				if _, err := engine.Apply(b.Context(), core.Batch{Upsert: c.change(i)}); err != nil {
					b.Fatal(err)
				}
				marshalledBefore, madeBefore := builder.Builds()
				kept = buildAll(builder.At(engine.View()))
				marshalled, made = builder.Builds()
				marshalled, made = marshalled-marshalledBefore, made-madeBefore
			}
			b.ReportMetric(float64(marshalled), "marshalled/op")
			b.ReportMetric(float64(made), "changed/op")
			runtime.KeepAlive(kept)
		})
	}
}
