package snapshot

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

// TestPartsAreBuiltOnce asks for the same parts from many goroutines. Each part is built
// once for each value of the facets that its build asks for.
func TestPartsAreBuiltOnce(t *testing.T) {
	dataplane := func(service string) *resource.Dataplane {
		return &resource.Dataplane{Inbounds: []resource.Inbound{
			{Tags: resource.NewTags(map[string]string{resource.ServiceTag: service})},
		}}
	}
	for _, test := range []struct {
		name  string
		facet func(*client)
		want  int64
	}{
		{"no facet", func(*client) {}, 1},
		{"the service", func(c *client) { c.Service() }, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 1000 {
				var parts faceted[string]
				var builds atomic.Int64
				var all sync.WaitGroup
				begin := make(chan struct{})
				got := make([]*built, 16)
				for i := range got {
					d := dataplane([]string{"web", "api"}[i%2])
					all.Go(func() {
						<-begin
						got[i] = parts.get("key", d, func(c *client) *built {
							builds.Add(1)
							test.facet(c)
							return &built{}
						})
					})
				}
				close(begin)
				all.Wait()
				if n := builds.Load(); n != test.want {
					t.Fatalf("%d builds, want %d", n, test.want)
				}
				for i, b := range got {
					if b != got[i%2] {
						t.Fatalf("two callers got two parts")
					}
				}
			}
		})
	}
}
