package destination

import (
	"iter"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Directory contains the destinations of a mesh.
type Directory struct {
	semantics semantics.Semantics
	mesh      *resource.Mesh                              // nil: the mesh has no document
	all       []resource.Destination                      // sorted by identity
	indexes   map[resource.Destination]int                // into all
	filed     map[items.Selector][]int                    // indexes into all, in ascending order
	secrets   map[string]*resource.ObjectOf[specs.Secret] // by name
	zoned     bool                                        // an external service was made in a zone
	reserved  []string                                    // names of Secrets that proxies do not get
	lists     sync.Map                                    // of outbounds, by the filter of dataplanes; see reachedBy
}

// New returns the destinations among the objects of a mesh, which must be sorted by
// identity. Mesh is the mesh's document, or nil. Reserved is what [ReservedSecrets] returns.
func New(s semantics.Semantics, mesh *resource.Mesh, reserved []string, objects []resource.Object) *Directory {
	set := &Directory{semantics: s, mesh: mesh, indexes: map[resource.Destination]int{}, filed: map[items.Selector][]int{}, secrets: map[string]*resource.ObjectOf[specs.Secret]{}}
	set.reserved = slices.Concat(reserved, secretsOfBackends(mesh))
	for _, o := range objects {
		if secret, is := o.(*resource.ObjectOf[specs.Secret]); is {
			set.secrets[secret.Name] = secret
		}
		d, is := o.(resource.Destination)
		if !is || s.Refused(d) != "" {
			continue
		}
		for selector := range items.OfDestination(s, d) {
			set.filed[selector] = append(set.filed[selector], len(set.all))
		}
		set.indexes[d] = len(set.all)
		set.all = append(set.all, d)
		set.zoned = set.zoned || s.IsOfOtherZone(d, anyOtherZone)
	}
	return set
}

// anyOtherZone is no name of a zone.
const anyOtherZone = "/"

// All returns the destinations, sorted by identity. The caller must not change the slice.
func (s *Directory) All() []resource.Destination { return s.all }

// Found is a destination that a reference finds.
type Found struct {
	Destination resource.Destination
	// Section is the section of the port that the reference selects; empty: all ports.
	// The destination need not have such a port.
	Section string
	at      int
}

// Find returns the destinations that the targetRef of a `to` item of a policy finds,
// sorted by identity. It returns none if the targetRef does not refer to destinations.
func (s *Directory) Find(p *resource.Policy, t *resource.TargetRef) (found []Found) {
	if !resource.DestinationTargets.Has(t.Kind) {
		return nil
	}
	candidates := s.withRarestLabel(t.Kind, t.Labels)
	if t.Name != "" {
		candidates = nil
		var buffer [2]items.Selector
		for _, selector := range items.AppendNames(buffer[:0], s.semantics, t) {
			candidates = append(candidates, s.filed[selector]...)
		}
		slices.Sort(candidates)
	}
	for _, at := range candidates {
		if section, finds := items.Finds(s.semantics, p, t, s.all[at]); finds {
			found = append(found, Found{s.all[at], section, at})
		}
	}
	return found
}

// find yields the indexes of the destinations that a reference in the resource from
// finds, in ascending order.
func (s *Directory) find(from *resource.Meta, kind resource.TargetKind, name, namespace string, labels resource.Tags) iter.Seq[int] {
	return func(yield func(int) bool) {
		candidates := s.withRarestLabel(kind, labels)
		if len(labels) == 0 {
			candidates = s.filed[items.Named(kind, name)]
		}
		for _, at := range candidates {
			if items.Refers(s.semantics, from, name, namespace, labels, s.all[at].Identity()) && !yield(at) {
				return
			}
		}
	}
}

// withRarestLabel returns the destinations with the rarest of the labels.
func (s *Directory) withRarestLabel(kind resource.TargetKind, labels resource.Tags) []int {
	var rarest []int
	for i, label := range labels {
		if list := s.filed[items.Labelled(kind, label)]; i == 0 || len(list) < len(rarest) {
			rarest = list
		}
	}
	return rarest
}
