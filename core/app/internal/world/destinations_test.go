package world

import (
	"cmp"
	"runtime"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkDestinations reads the confs of destinations of transparent proxies: of one
// outbound and of all 2,200 outbounds of a dataplane, and of one outbound after a change of
// a policy and of a service. Build measures the first view, and the heap that it takes in
// addition to the resources.
func BenchmarkDestinations(b *testing.B) {
	o := Options{Dataplanes: 20_000, Policies: 10_000, Outbounds: 1}
	o.Shape = transparent(b)
	w := newWorld(o)
	apply := func(batch core.Batch) {
		if _, err := w.engine.Apply(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			engine := core.NewEngine(w.kinds, core.Options{Semantics: cmp.Or(o.Shape.semantics, core.TargetRef)})
			before := usage.Heap()
			b.StartTimer()
			if _, err := engine.Apply(b.Context(), core.Batch{Upsert: w.set}); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			b.ReportMetric((usage.Heap()-before)/float64(o.Dataplanes), "B/dataplane")
			runtime.KeepAlive(engine)
			b.StartTimer()
		}
	})
	apply(core.Batch{Upsert: w.set})
	d := w.set.Dataplanes[0]
	one := func() {
		view := w.engine.View()
		outbounds := view.DestinationOutbounds(d)
		if view.DestinationConfs(d, measuredKind, core.Enforced).ConfigFor(&outbounds[0]).Effective == nil {
			b.Fatal("there is no conf")
		}
	}
	one()
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			one()
		}
	})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		view := w.engine.View()
		outbounds := view.DestinationOutbounds(d)
		for b.Loop() {
			view.DestinationConfs(d, measuredKind, core.Enforced).All(outbounds)
		}
	})
	b.Run("after=policy", func(b *testing.B) {
		b.ReportAllocs()
		apply(w.policy("zz", resource.TargetRef{Kind: resource.TargetDataplane, Labels: d.Labels}, 1))
		for i := 0; b.Loop(); i++ {
			apply(w.policy("zz", resource.TargetRef{Kind: resource.TargetDataplane, Labels: d.Labels}, i))
			one()
		}
	})
	b.Run("after=service", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			service := meshService(w.Dataplanes)
			service.Spec.Ports = []specs.ServicePort{{Port: 80 + uint32(i%2)}}
			apply(core.Batch{Upsert: &resource.Set{Objects: []resource.Object{service}}})
			one()
		}
	})
}

// BenchmarkDestinationShapes reads the conf of one outbound of dataplanes of several classes,
// in worlds in which thousands of policies or hundreds of routes select each dataplane.
func BenchmarkDestinationShapes(b *testing.B) {
	for _, s := range Shapes() {
		if s.objects == nil {
			continue
		}
		b.Run("shape="+s.Name, func(b *testing.B) {
			w := newWorld(Options{Shape: s, Dataplanes: 20_000, Policies: 10_000, Outbounds: 10})
			if _, err := w.engine.Apply(b.Context(), core.Batch{Upsert: w.set}); err != nil {
				b.Fatal(err)
			}
			view := w.engine.View()
			dataplanes := w.inView(view)
			i := 0
			one := func() {
				d := dataplanes[i*dataplanesPerService%len(dataplanes)]
				outbounds := view.DestinationOutbounds(d) // dataplanes share the list
				i++
				if view.DestinationConfs(d, measuredKind, core.Enforced).ConfigFor(&outbounds[len(outbounds)-1]).Effective == nil {
					b.Fatal("there is no conf")
				}
			}
			for range len(dataplanes) / dataplanesPerService { // lists are made, and references resolved
				one()
			}
			b.ReportAllocs()
			for b.Loop() {
				one()
			}
		})
	}
}
