package rules

import (
	"github.com/meshmatch/meshmatch/core/resource"
)

// To is the concatenated `to` arrays of the ordered policies of one kind that
// select a dataplane, filed by what the items select. It answers for any
// number of outbounds and routes.
type To struct {
	conf    resource.ConfType
	entries []entry
	// Indices of entries, ascending. An entry for a service's subset stands
	// with the service; its tags are compared when it is met.
	everywhere []int
	services   map[string][]int
	routes     map[string][]int // by a route's name
	scoped     bool             // some policy is attached to a route
}

type entry struct {
	Contribution
	target *resource.TargetRef
	scope  *resource.TargetRef // the route that the policy is attached to; nil: none
}

// NewTo files the `to` items of policies, which are all of the kind, ordered,
// later ones overriding. The kind must have a To section.
func NewTo(kind *resource.Kind, policies []*resource.Policy) *To {
	t := &To{conf: kind.To.Conf, services: map[string][]int{}, routes: map[string][]int{}}
	for _, p := range policies {
		var scope *resource.TargetRef
		if p.TargetRef.Kind.IsRoute() {
			scope, t.scoped = &p.TargetRef, true
		}
		for i := range p.To {
			t.file(entry{
				Contribution: Contribution{Origin{p, i}, p.To[i].Conf},
				target:       &p.To[i].TargetRef,
				scope:        scope,
			})
		}
	}
	return t
}

func (t *To) file(e entry) {
	n := len(t.entries)
	t.entries = append(t.entries, e)
	switch e.target.Kind {
	case resource.TargetMesh:
		t.everywhere = append(t.everywhere, n)
	case resource.TargetMeshService, resource.TargetMeshServiceSubset:
		t.services[e.target.Name] = append(t.services[e.target.Name], n)
	case resource.TargetMeshHTTPRoute:
		t.routes[e.target.Name] = append(t.routes[e.target.Name], n)
	}
}

// Outbound returns the conf of an outbound with the given tags (SPEC 4.2).
func (t *To) Outbound(tags resource.Tags) *Effective {
	return Merge(t.conf, t.contributions(tags, nil))
}

// Route returns the conf of a route of an outbound with the given tags: of
// the items that select the outbound and of those that select the route, and
// of the policies that are attached to the route (SPEC 4.3).
func (t *To) Route(tags resource.Tags, route *resource.Policy) *Effective {
	return Merge(t.conf, t.contributions(tags, route))
}

// contributions returns what applies to an outbound, or to a route of it, in
// order: the files are disjoint, so it merges ascending lists.
func (t *To) contributions(tags resource.Tags, route *resource.Policy) []Contribution {
	everywhere, service := t.everywhere, t.services[tags.Value(resource.ServiceTag)]
	var routes []int
	if route != nil {
		routes = t.routes[route.Name]
	}
	var out []Contribution
	for len(everywhere)+len(service)+len(routes) > 0 {
		list := &everywhere
		if len(*list) == 0 || len(service) > 0 && service[0] < (*list)[0] {
			list = &service
		}
		if len(*list) == 0 || len(routes) > 0 && routes[0] < (*list)[0] {
			list = &routes
		}
		e := &t.entries[(*list)[0]]
		*list = (*list)[1:]
		if e.applies(tags, route) {
			if out == nil {
				out = make([]Contribution, 0, 1+len(everywhere)+len(service)+len(routes))
			}
			out = append(out, e.Contribution)
		}
	}
	return out
}

// applies checks what the files do not: a subset's tags, the namespace and
// kind of a route, and the route that the policy is attached to.
func (e *entry) applies(tags resource.Tags, route *resource.Policy) bool {
	if e.scope != nil && (route == nil || !NamesRoute(e.scope, route)) {
		return false
	}
	switch e.target.Kind {
	case resource.TargetMeshServiceSubset:
		return tags.Contains(e.target.Tags)
	case resource.TargetMeshHTTPRoute:
		return NamesRoute(e.target, route)
	}
	return true
}

// NamesRoute reports whether a targetRef of a route kind names the route,
// which is a policy of that kind.
func NamesRoute(t *resource.TargetRef, route *resource.Policy) bool {
	return t.Kind.String() == route.Kind && t.Name == route.Name && (t.Namespace == "" || t.Namespace == route.Namespace)
}

// HasRoute reports whether a route (a policy of a route kind) has a `to` for
// an outbound with the given tags (SPEC 4.3).
func HasRoute(route *resource.Policy, tags resource.Tags) bool {
	for i := range route.To {
		t := &route.To[i].TargetRef
		if t.Name == tags.Value(resource.ServiceTag) && tags.Contains(t.Tags) {
			return true
		}
	}
	return false
}
