package enforce

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// Bound is a binding of a policy, and whether it reaches a cluster.
type Bound struct {
	Binding *ocm.PlacementBinding
	// Reaches reports that the binding's placement contains the cluster, and that no set
	// excludes it.
	Reaches bool
}

// HasCluster reports whether a resource contains or names a cluster.
func (s *Hub) HasCluster(cluster string) bool { return s.lookup(clusterName(cluster)) != nil }

// Bound returns the bindings of a policy of s, directly or through sets, sorted by name. A
// binding whose placement does not exist is omitted.
func (s *Hub) Bound(e *Effect, cluster string) []Bound {
	id, known := s.names.Lookup(clusterName(cluster))
	var out []Bound
	for _, x := range e.paths {
		reaches := known && x.clusters.Contains(id)
		i := slices.IndexFunc(out, func(b Bound) bool { return b.Binding == x.binding })
		if i < 0 {
			i = len(out)
			out = append(out, Bound{Binding: x.binding})
		}
		out[i].Reaches = out[i].Reaches || reaches // by one of several paths
	}
	slices.SortFunc(out, func(a, b Bound) int {
		return cmp.Or(strings.Compare(a.Binding.Namespace, b.Binding.Namespace), strings.Compare(a.Binding.Name, b.Binding.Name))
	})
	return out
}
