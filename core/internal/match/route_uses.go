package match

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// routeName is the kind and name in a targetRef of a route kind. Several
// namespaces may have routes with this name.
type routeName struct{ kind, name string }

func (n routeName) compare(o routeName) int {
	return cmp.Or(strings.Compare(n.kind, o.kind), strings.Compare(n.name, o.name))
}

// routeUse contains the slots of the routes with one name, and of the policies
// that are attached to them. The lists are sorted, and immutable once
// published.
type routeUse struct {
	routes   []uint32 // the routes with the name
	attached []uint32 // the policies with a targetRef to the name
}

// routeUses is an immutable map from names of routes to their uses.
type routeUses struct {
	names *index.Interner[routeName] // one reference for each slot in a use
	uses  index.Vector[routeUse]
}

func (r *routeUses) useOf(name routeName) routeUse {
	if id, known := r.names.Lookup(name); known {
		return r.uses.Value(id)
	}
	return routeUse{}
}

type routeUsesEditor struct {
	semantics semantics.Semantics

	names   *index.InternerEditor[routeName]
	uses    index.VectorEditor[routeUse]
	touched []routeName
}

// add records p, at a slot, if it is a route or is attached to one.
func (e *routeUsesEditor) add(p *resource.Policy, slot uint32) {
	e.eachUse(p, e.names.Intern, func(slots []uint32) []uint32 {
		at, _ := slices.BinarySearch(slots, slot)
		return slices.Insert(slices.Clip(slots), at, slot)
	})
}

// remove is the inverse of add.
func (e *routeUsesEditor) remove(p *resource.Policy, slot uint32) {
	e.eachUse(p, e.release, func(slots []uint32) []uint32 {
		return slices.DeleteFunc(slices.Clone(slots), func(s uint32) bool { return s == slot })
	})
}

// release removes a reference to a name and returns the name's id. After the last
// reference, the use of the name is empty.
func (e *routeUsesEditor) release(name routeName) uint32 {
	id, _ := e.names.Lookup(name)
	e.names.Release(id)
	return id
}

// eachUse replaces the lists of slots that p belongs to. A route belongs to the routes
// with its name. A policy that is attached to routes belongs to the policies attached to
// their name.
func (e *routeUsesEditor) eachUse(p *resource.Policy, id func(routeName) uint32, replace func(slots []uint32) []uint32) {
	if p.IsRoute() {
		use := e.uses.Mut(id(routeName{p.Kind, e.semantics.ReferenceName(&p.Meta)}))
		use.routes = replace(use.routes)
	}
	if ref := &p.TargetRef; ref.Kind.IsRoute() {
		name := routeName{ref.Kind.String(), ref.Name}
		use := e.uses.Mut(id(name))
		use.attached = replace(use.attached)
		e.touched = append(e.touched, name)
	}
}
