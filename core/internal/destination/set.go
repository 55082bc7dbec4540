package destination

import (
	"iter"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Set contains the destinations of a mesh.
type Set struct {
	semantics semantics.Semantics
	mesh      *resource.Mesh         // nil: the mesh has no document
	all       []resource.Destination // sorted by identity
	byName    map[kindName][]int     // indexes into all, in ascending order
	byLabel   map[kindLabel][]int
	secrets   map[string]*resource.Secret // by name
	zoned     bool                        // an external service was made in a zone
	reserved  []string                    // names of Secrets that proxies do not get
	lists     sync.Map                    // of outbounds, by the filter of dataplanes; see reachedBy
}

// kindName is the kind and the name by which references find destinations.
type kindName struct {
	kind resource.TargetKind
	name string
}

type kindLabel struct {
	kind  resource.TargetKind
	label resource.Tag
}

// New returns the destinations among the objects of a mesh, which must be sorted by
// identity. Mesh is the mesh's document, or nil. Reserved is what [ReservedSecrets] returns.
func New(s semantics.Semantics, mesh *resource.Mesh, reserved []string, objects []resource.Object) *Set {
	set := &Set{semantics: s, mesh: mesh, byName: map[kindName][]int{}, byLabel: map[kindLabel][]int{}, secrets: map[string]*resource.Secret{}}
	set.reserved = slices.Concat(reserved, secretsOfBackends(mesh))
	for _, o := range objects {
		if secret, is := o.(*resource.Secret); is {
			set.secrets[secret.Name] = secret
		}
		d, is := o.(resource.Destination)
		if !is || s.Refused(d) != "" {
			continue
		}
		at, kind, meta := len(set.all), kindOf(d), d.Identity()
		set.all = append(set.all, d)
		set.zoned = set.zoned || s.IsOfOtherZone(d, anyOtherZone)
		name := kindName{kind, s.ReferenceName(meta)}
		set.byName[name] = append(set.byName[name], at)
		for _, label := range meta.Labels {
			set.addLabel(kind, label, at)
		}
		if _, present := meta.Labels.Get(resource.DisplayNameLabel); !present {
			set.addLabel(kind, resource.Tag{Key: resource.DisplayNameLabel, Value: meta.Name}, at)
		}
	}
	return set
}

// anyOtherZone is no name of a zone.
const anyOtherZone = "/"

func (s *Set) addLabel(kind resource.TargetKind, label resource.Tag, at int) {
	key := kindLabel{kind, label}
	s.byLabel[key] = append(s.byLabel[key], at)
}

func kindOf(d resource.Destination) resource.TargetKind {
	switch d.(type) {
	case *resource.MeshExternalService:
		return resource.TargetMeshExternalService
	case *resource.MeshMultiZoneService:
		return resource.TargetMeshMultiZoneService
	}
	return resource.TargetMeshService
}

// All returns the destinations, sorted by identity. The caller must not change the slice.
func (s *Set) All() []resource.Destination { return s.all }

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
func (s *Set) Find(p *resource.Policy, t *resource.TargetRef) []Found {
	return s.appendFound(nil, p, t)
}

func (s *Set) appendFound(found []Found, p *resource.Policy, t *resource.TargetRef) []Found {
	if !resource.DestinationTargets.Has(t.Kind) {
		return found
	}
	first := len(found)
	for at := range s.find(&p.Meta, t.Kind, t.Name, t.Namespace, t.Labels) {
		found = append(found, Found{s.all[at], t.SectionName, at})
	}
	if name, namespace, number, ok := s.serviceName(t); ok {
		for at := range s.find(&p.Meta, t.Kind, name, namespace, nil) {
			found = s.appendPort(found, at, number)
		}
	}
	slices.SortFunc(found[first:], func(a, b Found) int { return a.at - b.at })
	return found
}

// find yields the indexes of the destinations that a reference in the resource from
// finds, in ascending order.
func (s *Set) find(from *resource.Meta, kind resource.TargetKind, name, namespace string, labels resource.Tags) iter.Seq[int] {
	return func(yield func(int) bool) {
		var candidates []int
		if name != "" {
			candidates = s.byName[kindName{kind, name}]
		} else {
			candidates = s.withRarestLabel(kind, labels)
		}
		for _, at := range candidates {
			if s.matches(from, at, name, namespace, labels) && !yield(at) {
				return
			}
		}
	}
}

// matches reports whether a reference finds a destination of its kind that has its name,
// if the reference has one.
func (s *Set) matches(from *resource.Meta, at int, name, namespace string, labels resource.Tags) bool {
	meta := s.all[at].Identity()
	if name != "" {
		return s.semantics.FindsByName(from, namespace, meta)
	}
	return len(labels) > 0 && meta.HasLabels(labels)
}

// appendIfFound is appendFound for one destination. Its cost does not depend on the number
// of destinations that the reference finds.
func (s *Set) appendIfFound(found []Found, p *resource.Policy, t *resource.TargetRef, at int) []Found {
	if kindOf(s.all[at]) != t.Kind {
		return found
	}
	known := s.semantics.ReferenceName(s.all[at].Identity())
	if (t.Name == "" || t.Name == known) && s.matches(&p.Meta, at, t.Name, t.Namespace, t.Labels) {
		found = append(found, Found{s.all[at], t.SectionName, at})
	}
	if name, namespace, number, ok := s.serviceName(t); ok && name == known && s.matches(&p.Meta, at, name, namespace, nil) {
		found = s.appendPort(found, at, number)
	}
	return found
}

// withRarestLabel returns the destinations with the rarest of the labels.
func (s *Set) withRarestLabel(kind resource.TargetKind, labels resource.Tags) []int {
	var rarest []int
	for i, label := range labels {
		if list := s.byLabel[kindLabel{kind, label}]; i == 0 || len(list) < len(rarest) {
			rarest = list
		}
	}
	return rarest
}

// serviceName returns the parts of a name in the form of [semantics.Semantics.ServiceName].
func (s *Set) serviceName(t *resource.TargetRef) (name, namespace string, number uint32, ok bool) {
	if t.Kind != resource.TargetMeshService || t.SectionName != "" || t.Name == "" {
		return "", "", 0, false
	}
	return s.semantics.ServiceName(t.Name)
}

// appendPort appends a destination with the section of a port; 0 means all ports. A port
// that the destination does not have finds nothing.
func (s *Set) appendPort(found []Found, at int, number uint32) []Found {
	if number == 0 {
		return append(found, Found{s.all[at], "", at})
	}
	if port, has := portOf(s.all[at], number); has {
		return append(found, Found{s.all[at], port.SectionName(), at})
	}
	return found
}

// portOf returns the port with a number; for 0 it returns the only port.
func portOf(d resource.Destination, number uint32) (resource.DestinationPort, bool) {
	ports := d.Ports()
	if number == 0 && len(ports) == 1 {
		return ports[0], true
	}
	for _, port := range ports {
		if port.Number == number {
			return port, true
		}
	}
	return resource.DestinationPort{}, false
}
