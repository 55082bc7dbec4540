package enforce

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// clusterOrder contains the clusters sorted by name. It is made at the first use.
// States with the same clusters share it.
type clusterOrder struct {
	once   sync.Once
	sorted []cluster
}

// cluster is a cluster by the id of its name.
type cluster struct {
	name string
	id   uint32
}

// clustersByName returns the clusters that the resources of s contain or name.
func (s *Hub) clustersByName() []cluster {
	s.order.once.Do(func() {
		for id := range s.names.Limit() {
			if n := s.node(id); n != nil && n.name.kind == ocm.ManagedClusterKind {
				s.order.sorted = append(s.order.sorted, cluster{n.name.name, id})
			}
		}
		slices.SortFunc(s.order.sorted, compareClusters)
	})
	return s.order.sorted
}

func compareClusters(a, b cluster) int {
	return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.id, b.id))
}

// appendByName appends some clusters, given by ascending ids, in the order of
// their names. If they are a large part of all clusters, it walks all clusters in
// that order; otherwise it sorts them.
func (s *Hub) appendByName(dst []cluster, ids []uint32) []cluster {
	if all := s.clustersByName(); len(all) < 8*len(ids) {
		wanted := make([]bool, ids[len(ids)-1]+1)
		for _, id := range ids {
			wanted[id] = true
		}
		for _, c := range all {
			if int(c.id) < len(wanted) && wanted[c.id] {
				dst = append(dst, c)
			}
		}
		return dst
	}
	from := len(dst)
	for _, id := range ids {
		dst = append(dst, cluster{s.node(id).name.name, id})
	}
	slices.SortFunc(dst[from:], compareClusters)
	return dst
}
