package match_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkReplaceInbounds changes a tag of half of the inbounds of a dataplane, and changes it
// back. 1,000 is the most that a dataplane may have.
func BenchmarkReplaceInbounds(b *testing.B) {
	for _, n := range []int{100, 300, 1_000} {
		dataplane := func(revision string) *resource.Dataplane {
			d := &resource.Dataplane{Address: "10.0.0.1"}
			for i := range n {
				tags := resource.Tags{{Key: resource.ServiceTag, Value: fmt.Sprint("service-", i)}}
				if i >= n/2 {
					tags = tags.With("revision", fmt.Sprint(revision, i))
				}
				d.Inbounds = append(d.Inbounds, resource.Inbound{Port: uint32(i + 1), Tags: tags})
			}
			return d
		}
		b.Run(fmt.Sprint("inbounds=", n), func(b *testing.B) {
			x := match.NewDataplaneIndex(semantics.TargetRef)
			old, next := dataplane("a"), dataplane("b")
			x.Replace(0, nil, old)
			for b.Loop() {
				x.Replace(0, old, next)
				x.Replace(0, next, old)
			}
		})
	}
}
