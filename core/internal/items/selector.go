package items

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Selector is what a targetRef of a `to` item names: every outbound, a service or
// destination by its name or by one of its labels, or a route.
type Selector struct {
	kind  resource.TargetKind
	label string // empty: value is a name
	value string
}

var (
	// Everywhere is the selector of the items for every outbound.
	Everywhere = Selector{kind: resource.TargetMesh}
	// Subsets is the selector of all items of kind MeshSubset.
	Subsets = Selector{kind: resource.TargetMeshSubset}
	// LabelledRoutes is the selector of all items that refer to routes by labels.
	LabelledRoutes = RouteNamed("")
)

// RouteNamed returns the selector of the items that refer to routes by a name.
func RouteNamed(name string) Selector {
	return Selector{kind: resource.TargetMeshHTTPRoute, value: name} // for all kinds of routes
}

// Named returns the selector of a name of a kind of destinations. The services of outbounds
// by tags have the selectors of MeshServices.
func Named(kind resource.TargetKind, name string) Selector {
	if kind == resource.TargetMeshServiceSubset {
		kind = resource.TargetMeshService
	}
	return Selector{kind: kind, value: name}
}

// Labelled returns the selector of a label of a kind of destinations.
func Labelled(kind resource.TargetKind, label resource.Tag) Selector {
	return Selector{kind, label.Key, label.Value}
}

// OfDestination yields the selectors of a destination: its name and its labels.
func OfDestination(s semantics.Semantics, d resource.Destination) iter.Seq[Selector] {
	return func(yield func(Selector) bool) {
		kind, m := KindOf(d), d.Identity()
		if !yield(Named(kind, s.ReferenceName(m))) {
			return
		}
		for _, label := range m.Labels {
			if !yield(Labelled(kind, label)) {
				return
			}
		}
		if _, present := m.Labels.Get(resource.DisplayNameLabel); !present {
			yield(Labelled(kind, resource.Tag{Key: resource.DisplayNameLabel, Value: m.Name}))
		}
	}
}

// AppendNames appends the selectors of a targetRef that has no labels. Each of them may find
// what the targetRef selects.
func AppendNames(list []Selector, s semantics.Semantics, t *resource.TargetRef) []Selector {
	switch {
	case t.Kind == resource.TargetMesh:
		return append(list, Everywhere)
	case t.Kind == resource.TargetMeshSubset:
		return append(list, Subsets)
	case t.Kind.IsRoute():
		return append(list, RouteNamed(t.Name))
	case t.Name == "":
		return list
	}
	list = append(list, Named(t.Kind, t.Name))
	if name, _, _, is := serviceName(s, t); is {
		list = append(list, Named(t.Kind, name))
	}
	return list
}

// labels yields the selectors of the labels of a targetRef, which has no name. Its items are
// filed under one of them.
func labels(t *resource.TargetRef) iter.Seq[Selector] {
	return func(yield func(Selector) bool) {
		if t.Name != "" || !resource.DestinationTargets.Has(t.Kind) {
			return
		}
		for _, label := range t.Labels {
			if !yield(Labelled(t.Kind, label)) {
				return
			}
		}
	}
}
