package rules

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
)

// To is the concatenated `to` arrays of the ordered policies of one kind that
// select a dataplane, filed by what the items select. It answers for any
// number of outbounds and routes.
type To struct {
	conf    resource.ConfType
	items   []Contribution // shared by everything that is merged from them
	entries []entry        // by item
	// Indices of items, ascending. One for a service's subset stands with the
	// service; its tags are compared when it is met.
	everywhere []int
	services   map[string][]int
	routes     map[string][]int // by a route's name
}

// entry is what an item selects.
type entry struct {
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
			scope = &p.TargetRef
		}
		for i := range p.To {
			t.file(entry{&p.To[i].TargetRef, scope})
			t.items = append(t.items, Contribution{Origin{p, i}, p.To[i].Conf})
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

// Outbound returns the conf of an outbound with the given tags (SPEC 4.2);
// nil where no item selects it.
func (t *To) Outbound(tags resource.Tags) *Effective { return t.merge(tags, nil) }

// Route returns the conf of a route of an outbound with the given tags: of
// the items that select the outbound and of those that select the route, and
// of the policies that are attached to the route (SPEC 4.3).
func (t *To) Route(tags resource.Tags, route *resource.Policy) *Effective {
	return t.merge(tags, route)
}

func (t *To) merge(tags resource.Tags, route *resource.Policy) *Effective {
	if merger := t.fill(tags, route); merger != nil {
		return newEffective(merger, t.items)
	}
	return nil
}

// fill fills a merger from the items that apply, highest priority first,
// until it is complete; nil where none applies.
func (t *To) fill(tags resource.Tags, route *resource.Policy) (merger resource.Merger) {
	for item := range t.selecting(tags, route) {
		if merger == nil {
			merger = t.conf.NewMerger()
		}
		if merger.Fill(t.items[item].Conf, item) {
			break
		}
	}
	return merger
}

// selecting yields the items that apply to an outbound, or to a route of it,
// highest priority first. The files are disjoint and ascending, so it takes
// the largest of their ends.
func (t *To) selecting(tags resource.Tags, route *resource.Policy) iter.Seq[int] {
	files := [3][]int{t.everywhere, t.services[tags.Value(resource.ServiceTag)]}
	if route != nil {
		files[2] = t.routes[route.Name]
	}
	return func(yield func(int) bool) {
		files := files
		for {
			from, item := -1, -1
			for i, file := range files {
				if n := len(file); n > 0 && file[n-1] > item {
					from, item = i, file[n-1]
				}
			}
			if from < 0 {
				return
			}
			files[from] = files[from][:len(files[from])-1]
			if t.entries[item].applies(tags, route) && !yield(item) {
				return
			}
		}
	}
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
