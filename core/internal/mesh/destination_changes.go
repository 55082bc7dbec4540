package mesh

import (
	"maps"
	"reflect"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// DestinationDifference is what changed for a destination. It has the fields of
// core.DestinationChange.
type DestinationDifference struct {
	Destination                resource.ID // zero: all destinations of the mesh
	Joined, Left               bool
	OwnResource                bool
	Policies, Endpoints, Zones []resource.ID
}

// CompareDestinations returns what changed for destinations from one state of a mesh to
// another, sorted by identity; nil is a mesh without resources. Globals are the
// [EditedObjects] without a mesh.
func CompareDestinations(before, after *State, globals [][2]resource.Object) []DestinationDifference {
	c := &destinationComparison{before: before, after: after, found: map[resource.ID]*DestinationDifference{}}
	c.addResources()
	if before != nil && after != nil {
		c.addPolicies()
	}
	c.addEndpoints()
	c.addZones(globals)
	c.addIdentities()
	differences := make([]DestinationDifference, 0, len(c.found))
	for _, d := range c.found {
		for _, list := range []*[]resource.ID{&d.Policies, &d.Endpoints, &d.Zones} {
			slices.SortFunc(*list, resource.ID.Compare)
			*list = slices.Compact(*list)
		}
		differences = append(differences, *d)
	}
	slices.SortFunc(differences, func(a, b DestinationDifference) int { return a.Destination.Compare(b.Destination) })
	return differences
}

// destinationComparison compares the destinations of two states of a mesh; one of them may
// be nil.
type destinationComparison struct {
	before, after *State
	found         map[resource.ID]*DestinationDifference
}

func (c *destinationComparison) changeFor(id resource.ID) *DestinationDifference {
	d := c.found[id]
	if d == nil {
		d = &DestinationDifference{Destination: id}
		c.found[id] = d
	}
	return d
}

// addResources adds the destinations that were added, changed or removed themselves.
func (c *destinationComparison) addResources() {
	if c.before != nil && c.after != nil && c.before.resources.destinations == c.after.resources.destinations {
		return
	}
	byID := func(a, b resource.Object) int { return a.Identity().Compare(b.Identity().ID) }
	for old, next := range sorted.Join(objectsOf(c.before), objectsOf(c.after), byID) {
		if old == next {
			continue
		}
		was, _ := old.(resource.Destination)
		is, _ := next.(resource.Destination)
		switch {
		case was == nil && is == nil:
		case was == nil:
			d := c.changeFor(is.Identity().ID)
			d.Joined, d.OwnResource = true, true
		case is == nil:
			d := c.changeFor(was.Identity().ID)
			d.Left, d.OwnResource = true, true
		case !equalDestination(was, is):
			c.changeFor(is.Identity().ID).OwnResource = true
		}
	}
}

// objectsOf returns the objects of a state, which may be nil.
func objectsOf(m *State) Objects {
	if m == nil {
		return nil
	}
	return m.resources.objects
}

// equalDestination compares everything but positions in files.
func equalDestination(a, b resource.Destination) bool {
	return a.Created().Equal(b.Created()) && equalMeta(a.Identity(), b.Identity()) &&
		reflect.DeepEqual(a.State(), b.State()) && reflect.DeepEqual(specOf(a), specOf(b))
}

func specOf(d resource.Destination) any {
	switch d := d.(type) {
	case *resource.MeshService:
		return d.Spec
	case *resource.MeshExternalService:
		return d.Spec
	case *resource.MeshMultiZoneService:
		return d.Spec
	}
	return nil
}

// addPolicies adds the destinations to which the `to` items of policies refer that were
// added, changed or removed.
func (c *destinationComparison) addPolicies() {
	for p := range (&comparison{before: c.before, after: c.after}).causes() {
		in := c.after
		if in.index.Policy(p.ID) != p {
			in = c.before
		}
		if in.hasDestinations() {
			c.addItems(in, p, p)
		}
	}
}

// hasDestinations reports whether the mesh has destinations.
func (m *State) hasDestinations() bool {
	return slices.ContainsFunc(m.resources.objects, func(o resource.Object) bool {
		_, is := o.(resource.Destination)
		return is
	})
}

// addItems adds a policy to the destinations of the `to` items of one: of the policy
// itself, or of a route to which an item of it refers.
func (c *destinationComparison) addItems(in *State, policy, of *resource.Policy) {
	for i := range of.To {
		t := &of.To[i].TargetRef
		switch {
		case t.Kind == resource.TargetMesh:
			all := c.changeFor(resource.ID{})
			all.Policies = append(all.Policies, policy.ID)
		case t.Kind.IsRoute():
			for route := range in.index.All() {
				if route.IsRoute() && in.index.Semantics().RefersToRoute(of, t, route) {
					c.addItems(in, policy, route)
				}
			}
		default:
			for _, found := range in.Destinations().Find(of, t) {
				d := c.changeFor(found.Destination.Identity().ID)
				d.Policies = append(d.Policies, policy.ID)
			}
		}
	}
}

// addEndpoints adds the MeshServices that select dataplanes which were added, changed or
// removed.
func (c *destinationComparison) addEndpoints() {
	add := func(m *State, d *resource.Dataplane) {
		if d == nil {
			return
		}
		for _, s := range m.selectors().ServicesOf(d) {
			service := c.changeFor(s.ID)
			service.Endpoints = append(service.Endpoints, d.ID)
		}
	}
	for old, next := range Edited(c.before, c.after) {
		add(c.before, old)
		add(c.after, next)
	}
}

// selectors returns the selectors of the MeshServices.
func (m *State) selectors() *destination.Selectors {
	d := m.resources.destinations
	d.selecting.Do(func() {
		d.selectors = destination.NewSelectors(m.index.Semantics(), resource.ObjectsOf[*resource.MeshService](m.resources.objects))
	})
	return d.selectors
}

// classOf returns the configs of the class; nil for nil.
func (s *profileConfigs) classOf() *classConfigs {
	if s == nil {
		return nil
	}
	return s.class
}

// changedPolicies returns the policies with `to` items that only one of two lists has; another
// version with equal content is no other policy.
func changedPolicies(before, after results.Matched) (changed []*resource.Policy) {
	was, is := match.Unshared(before, after)
	old, next := map[resource.ID]*resource.Policy{}, withTo(is)
	for _, p := range withTo(was) {
		old[p.ID] = p
	}
	for _, p := range next {
		known := old[p.ID]
		if delete(old, p.ID); known == p || known != nil && equalPolicy(known, p) {
			continue
		}
		if changed = append(changed, p); known != nil {
			changed = append(changed, known)
		}
	}
	return slices.AppendSeq(changed, maps.Values(old))
}

// withTo returns the policies of pages that have `to` items.
func withTo(pages []*matched.Page) []*resource.Policy {
	var policies []*resource.Policy
	for _, page := range pages {
		for _, selected := range page.Selected() {
			if len(selected.Policy.To) > 0 {
				policies = append(policies, selected.Policy)
			}
		}
	}
	return policies
}
