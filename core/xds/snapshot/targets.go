package snapshot

import (
	"slices"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/results"
)

// targetConfs is the confs of outbounds to destinations that are resources. Dataplanes
// with the same configs and the same outbounds share it.
type targetConfs struct {
	outbounds []destinations.Outbound
	ports     []*portConfs // parallel to outbounds
	// configs are parallel to the dataplane's. They have its conf of kinds without arrays, and
	// Outbounds that are parallel to outbounds. They must not refer to the dataplane's configs,
	// because a snapshot keeps them after later versions of these.
	configs []*results.Config
}

// targetsKey identifies a list of outbounds, by the first element and the length.
type targetsKey struct {
	outbounds *destinations.Outbound
	len       int
}

// targetsOf returns the confs of outbounds to resources, which are not empty.
func (k *kindConfs) targetsOf(outbounds []destinations.Outbound) *targetConfs {
	return k.targets.Get(targetsKey{&outbounds[0], len(outbounds)}, func() *targetConfs {
		t := &targetConfs{outbounds: outbounds}
		for i := range outbounds {
			t.ports = append(t.ports, k.port(&outbounds[i]))
		}
		for i, config := range k.configs {
			next := &results.Config{Kind: config.Kind, Default: config.Default}
			for at, port := range t.ports {
				if config.Kind.To != nil {
					o := port.outbounds[i]
					o.Index = at
					next.Outbounds = append(next.Outbounds, o)
				}
			}
			t.configs = append(t.configs, next)
		}
		return t
	})
}

// sameOutbounds reports whether two lists lead from the same addresses to the same ports.
func sameOutbounds(a, b []destinations.Outbound) bool { return same(a, b) || slices.Equal(a, b) }

// list returns the outbounds; t may be nil.
func (t *targetConfs) list() []destinations.Outbound {
	if t == nil {
		return nil
	}
	return t.outbounds
}
