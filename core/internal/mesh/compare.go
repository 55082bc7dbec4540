package mesh

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/index"
)

// Difference is a set of dataplanes to which the same happened for the same reasons.
// It is immutable. It has the fields of core.Change.
type Difference struct {
	OwnResource        bool
	Policies, Bindings []resource.ID
	Places, Shadow     []results.Place

	before, after *profileView // nil: the dataplanes joined, or left
	state         *State       // the state with the dataplanes
	slots         index.Set
	first         resource.ID // of the dataplanes
}

// Joined reports whether the dataplanes were added.
func (d *Difference) Joined() bool { return d.before == nil }

// Left reports whether the dataplanes were removed.
func (d *Difference) Left() bool { return d.after == nil }

// Len returns the number of dataplanes; it is at least one.
func (d *Difference) Len() int { return d.slots.Len() }

// First returns the first identity of the dataplanes.
func (d *Difference) First() resource.ID { return d.first }

// Dataplanes returns the dataplanes, sorted by identity: in their old version if
// they left, otherwise in the new one.
func (d *Difference) Dataplanes() []*resource.Dataplane {
	list := make([]*resource.Dataplane, 0, d.slots.Len())
	for slot := range d.slots.All() {
		list = append(list, d.state.dataplanes.Value(slot).resource)
	}
	slices.SortFunc(list, func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) })
	return list
}

// Before returns the configs that the dataplanes had; none if they joined.
func (d *Difference) Before(scope results.Scope) []*results.Config { return d.before.configs(scope) }

// After returns the configs that the dataplanes have; none if they left.
func (d *Difference) After(scope results.Scope) []*results.Config { return d.after.configs(scope) }

// Compare returns what changed for dataplanes from one state of a mesh to another,
// in any order; nil is a mesh without resources, and one of the states is not nil.
func Compare(before, after *State) []Difference {
	c := &comparison{before: before, after: after, places: newDestinationPlaces(before, after), groups: map[changeKey]*changeGroup{}}
	if sameLineage(before, after) {
		c.compareVersions()
	} else {
		c.compareAll()
	}
	return c.differences()
}

// comparison compares two states of a mesh; one of them may be nil.
type comparison struct {
	before, after *State
	places        *destinationPlaces
	groups        map[changeKey]*changeGroup
}

// changeKey is what the dataplanes of one [Difference] have in common. A profile is
// nil for dataplanes that joined or left.
type changeKey struct {
	ownResource   bool
	before, after *profileView
}

// changeGroup contains the dataplanes with one changeKey.
type changeGroup struct {
	slots   index.SetEditor
	members *memberSet // with the same slots, or nil
}

func (c *comparison) add(key changeKey, slot uint32) {
	group := c.groups[key]
	if group == nil {
		group = new(changeGroup)
		c.groups[key] = group
	}
	group.slots.Add(slot)
	group.members = nil
}

// compareVersions compares the slots and profiles that two versions of one
// lineage do not share. A dataplane that was removed and added again may have
// another slot.
func (c *comparison) compareVersions() {
	moved := movedSlots(c.before, c.after)
	for number := range c.after.profiles.Unshared(&c.before.profiles) {
		old, next := c.before.profiles.Value(number), c.after.profiles.Value(number)
		if old == next || old == nil || next == nil {
			continue
		}
		members := c.after.members.Value(number)
		stayed := members.set().AndNot(moved)
		if stayed.Len() == 0 {
			continue
		}
		group := &changeGroup{slots: stayed.Edit()}
		if stayed.Len() == members.set().Len() {
			group.members = members
		}
		c.groups[changeKey{false, old, next}] = group
	}
	for slot := range moved.All() {
		c.addLeft(slot)
		c.addPresent(slot)
	}
}

// compareAll compares every dataplane: slots have different meanings in the two
// states.
func (c *comparison) compareAll() {
	for slot := range c.before.allSlots() {
		c.addLeft(slot)
	}
	for slot := range c.after.allSlots() {
		c.addPresent(slot)
	}
}

// addLeft adds the dataplane in a slot of the previous state, if it was removed.
func (c *comparison) addLeft(slot uint32) {
	d := c.before.dataplanes.Value(slot).resource
	if d != nil && c.after.versionOf(d) == nil {
		c.add(changeKey{true, c.before.profileAt(slot), nil}, slot)
	}
}

// addPresent adds the dataplane in a slot of the state after, if there is one.
func (c *comparison) addPresent(slot uint32) {
	d := c.after.dataplanes.Value(slot).resource
	if d == nil {
		return
	}
	next := c.after.profileAt(slot)
	if c.before != nil {
		if at, known := c.before.slots.Lookup(proxyName{d.Namespace, d.Name}); known {
			own := !equalDataplane(c.before.dataplanes.Value(at).resource, d)
			c.add(changeKey{own, c.before.profileAt(at), next}, slot)
			return
		}
	}
	c.add(changeKey{true, nil, next}, slot)
}

// profileAt returns the profile of a slot in use.
func (m *State) profileAt(slot uint32) *profileView {
	return m.profiles.Value(m.dataplanes.Value(slot).profile)
}

// differences returns the differences of the groups, with their places and causes.
func (c *comparison) differences() []Difference {
	causes := c.causes()
	differences := make([]Difference, 0, len(c.groups))
	for key, group := range c.groups {
		d := Difference{
			OwnResource: key.ownResource, before: key.before, after: key.after, state: c.after, slots: group.slots.Commit(),
		}
		if key.after == nil {
			d.state = c.before
		}
		d.Places = results.Differences(key.before.configs(results.Enforced), key.after.configs(results.Enforced))
		if d.Shadow = d.Places; key.before.informed() || key.after.informed() {
			d.Shadow = results.Differences(key.before.configs(results.Shadow), key.after.configs(results.Shadow))
		}
		for _, part := range c.parts(&d) {
			if !key.ownResource && len(part.Places)+len(part.Shadow) == 0 {
				continue
			}
			if group.members != nil && group.members.set().Len() == part.slots.Len() {
				part.first = group.members.first(d.state)
			} else {
				part.first = d.state.first(part.slots)
			}
			part.Policies = causes.policiesFor(key)
			part.Bindings = c.bindings(key, part.first)
			differences = append(differences, part)
		}
	}
	return differences
}

// parts divides a group, which has the places of a difference, by the places of outbounds to
// destinations. The dataplanes of a group have the same outbounds to tags alone.
func (c *comparison) parts(d *Difference) []Difference {
	rest := *d
	if d.before == nil || d.after == nil || !c.before.hasDestinations() && !c.after.hasDestinations() {
		return []Difference{rest}
	}
	informed := d.before.informed() || d.after.informed()
	if len(c.places.pair(d.before, d.after, results.Enforced).kinds) == 0 && (!informed || len(c.places.pair(d.before, d.after, results.Shadow).kinds) == 0) {
		return []Difference{rest}
	}
	found := map[[2]*results.Place]*placesGroup{}
	for slot := range rest.slots.All() {
		dataplane := c.after.dataplanes.Value(slot).resource
		enforced := c.places.placesFor(dataplane, d.before, d.after, results.Enforced)
		shadow := enforced
		if informed {
			shadow = c.places.placesFor(dataplane, d.before, d.after, results.Shadow)
		}
		if len(enforced)+len(shadow) == 0 {
			continue
		}
		var key [2]*results.Place
		for i, list := range [][]results.Place{enforced, shadow} {
			if len(list) > 0 {
				key[i] = &list[0]
			}
		}
		if found[key] == nil {
			found[key] = &placesGroup{enforced: enforced, shadow: shadow}
		}
		found[key].slots.Add(slot)
	}
	var parts []Difference
	for _, of := range found {
		part := *d
		part.slots = of.slots.Commit()
		part.Places = slices.Concat(d.Places, of.enforced)
		if part.Shadow = part.Places; informed {
			part.Shadow = slices.Concat(d.Shadow, of.shadow)
		}
		rest.slots = rest.slots.AndNot(part.slots)
		parts = append(parts, part)
	}
	if rest.slots.Len() > 0 {
		parts = append(parts, rest)
	}
	return parts
}

// placesGroup contains dataplanes with the same places of outbounds to destinations.
type placesGroup struct {
	slots            index.SetEditor
	enforced, shadow []results.Place
}
