package world

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkVirtualAddresses measures a mesh whose transparent proxies also have outbounds
// of service tags, from the Config of virtual addresses (SPEC 17.3): the first view, a
// MeshService that is added, and a service that is added to the Config, which all proxies
// then have.
func BenchmarkVirtualAddresses(b *testing.B) {
	const services = 1_000
	o := Options{Dataplanes: dataplanesPerService * services, Policies: 100, Outbounds: 1}
	o.Shape = transparent(b)
	w := newWorld(o)
	w.set.Objects = append(w.set.Objects, virtualAddresses(services))
	apply := func(b *testing.B, objects ...resource.Object) {
		if _, err := w.engine.Apply(b.Context(), core.Batch{Upsert: &resource.Set{Objects: objects}}); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("build", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			engine := core.NewEngine(w.kinds, core.Options{Semantics: cmp.Or(o.Shape.semantics, core.TargetRef)})
			if _, err := engine.Apply(b.Context(), core.Batch{Upsert: w.set}); err != nil {
				b.Fatal(err)
			}
		}
	})
	if _, err := w.engine.Apply(b.Context(), core.Batch{Upsert: w.set}); err != nil {
		b.Fatal(err)
	}
	if d := w.engine.View().Dataplane(w.set.Dataplanes[0].ID); len(d.Outbounds) != services {
		b.Fatalf("%d outbounds of service tags", len(d.Outbounds))
	}
	b.Run("add=MeshService", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			service := meshService(w.Dataplanes)
			service.Spec.Ports = []specs.ServicePort{{Port: 80 + uint32(i%2)}}
			apply(b, service)
		}
	})
	b.Run("add=host", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			apply(b, virtualAddresses(services+1+i%2))
		}
	})
}

// virtualAddresses returns the Config of some services, each at port 80.
func virtualAddresses(services int) *resource.VirtualAddresses {
	v := &resource.VirtualAddresses{}
	v.ID = resource.ID{Kind: resource.ConfigKind, Mesh: shape.Mesh, Name: "kuma-" + shape.Mesh + "-dns-vips"}
	for i := range services {
		v.Spec.Config = append(v.Spec.Config, specs.VirtualHost{
			Type: specs.ServiceHost, Name: shape.Service(i), Address: fmt.Sprintf("240.0.%d.%d", i>>8, i&255),
		})
	}
	return v
}
