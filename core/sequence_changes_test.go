package core_test

import (
	stdcmp "cmp"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// checkChanges compares the changes of a commit with the answers before and after.
func (s *sequence) checkChanges(commit core.Commit, before, after answers) {
	s.Helper()
	changes := map[resource.ID]core.Change{}
	for _, c := range commit.Changes() {
		list := c.Dataplanes()
		if len(list) != c.Len() || len(list) == 0 {
			s.Fatalf("a change has %d dataplanes, and Len is %d", len(list), c.Len())
		}
		for _, d := range list {
			if _, twice := changes[d.ID]; twice {
				s.Fatalf("%s is in two changes", d.Name)
			}
			changes[d.ID] = c
		}
	}
	checkEdited(s.T, commit.Before, commit.After)
	s.checkZones(commit)
	for id, then := range before {
		if _, stays := after[id]; !stays {
			s.checkChange(id, changes, core.Left, then, [2]answer{})
		}
	}
	for id, now := range after {
		then, was := before[id]
		switch {
		case !was:
			s.checkChange(id, changes, core.Joined, [2]answer{}, now)
		case !sameDataplaneContent(commit.Before.Dataplane(id), commit.After.Dataplane(id)):
			s.checkChange(id, changes, core.Changed, then, now)
		default:
			c, ok := changes[id]
			if ok && (c.Action != core.Changed || c.OwnResource || len(c.Places)+len(c.Shadow) == 0 || len(c.Places)+len(c.Shadow) > 0 && len(c.Policies) == 0) {
				s.Fatalf("%s %v, own resource %v, by %v, %v", id.Name, c.Action, c.OwnResource, c.Policies, c.Places)
			}
			s.checkPlaces(id, &c, then, now)
			s.checkDestinations(commit, id, &c)
		}
	}
}

// checkDestinations expects that a commit names exactly the places of outbounds to
// destinations that change, of a dataplane that did not change itself. If the resources of
// destinations changed or the mode of their mesh, it may name fewer.
func (s *sequence) checkDestinations(commit core.Commit, id resource.ID, c *core.Change) {
	s.Helper()
	for scope, places := range [][]results.Place{c.Places, c.Shadow} {
		before, after := s.destinationsOf(commit.Before, id, core.Scope(scope)), s.destinationsOf(commit.After, id, core.Scope(scope))
		var named []results.Place
		for _, p := range places {
			if p.Destination != (resource.ID{}) {
				named = append(named, p)
			}
		}
		for _, place := range named {
			if before[place] == after[place] {
				s.Fatalf("%s: %s is in a change, and remains %s", id.Name, place, after[place])
			}
		}
		changed := func(c core.DestinationChange) bool { return c.Mesh == id.Mesh && c.OwnResource }
		if commit.Before.Mesh(id.Mesh) != commit.After.Mesh(id.Mesh) || slices.ContainsFunc(commit.DestinationChanges(), changed) {
			continue
		}
		both := maps.Clone(before)
		maps.Copy(both, after)
		for place := range both {
			if before[place] != after[place] && !slices.Contains(named, place) {
				s.Fatalf("%s: no change names %s, which was %q and is %q", id.Name, place, before[place], after[place])
			}
		}
	}
}

// destinationsOf renders the confs of the outbounds of a dataplane to destinations in a
// scope, by their places.
func (s *sequence) destinationsOf(v *core.View, id resource.ID, scope core.Scope) map[results.Place]string {
	texts := map[results.Place]string{}
	d := v.Dataplane(id)
	outbounds := v.DestinationOutbounds(d)
	for _, config := range v.Configs(d, scope) {
		confs := v.DestinationConfs(d, config.Kind.Name, scope)
		for i := range outbounds {
			o := &outbounds[i]
			at := results.Place{Policies: config.Kind.Name, Kind: results.AtOutbound, Destination: o.Destination.Identity().ID, Port: o.Port.Number}
			found := confs.ConfigFor(o)
			if found.Effective != nil {
				texts[at] = s.text(found.Effective)
			}
			for _, route := range found.Routes {
				at.Kind, at.Route = results.AtRoute, route.Route.ID
				texts[at] = route.Route.KRI() + " " + s.text(route.Effective)
			}
		}
	}
	return texts
}

// checkChange expects that a dataplane's own resource changed.
func (s *sequence) checkChange(id resource.ID, changes map[resource.ID]core.Change, action core.Action, then, now [2]answer) {
	s.Helper()
	c, ok := changes[id]
	if !ok || c.Action != action || !c.OwnResource {
		s.Fatalf("%s: want %v, got %v, own resource %v", id.Name, action, c.Action, c.OwnResource)
	}
	s.checkPlaces(id, &c, then, now)
}

// checkPlaces compares the places of a change with those whose text differs.
func (s *sequence) checkPlaces(id resource.ID, c *core.Change, then, now [2]answer) {
	s.Helper()
	for scope, places := range [][]results.Place{c.Places, c.Shadow} {
		ofTags := slices.DeleteFunc(slices.Clone(places), func(p results.Place) bool { return p.Destination != resource.ID{} })
		s.checkScope(id, ofTags, then[scope], now[scope])
	}
}

// checkScope is checkPlaces for one scope. A `from` may have different items and
// the same rules.
func (s *sequence) checkScope(id resource.ID, places []results.Place, then, now answer) {
	s.Helper()
	for _, p := range places {
		if p.Kind != results.AtInbound && then.places[p] == now.places[p] {
			s.Fatalf("%s: %v is in a change, and remains %s", id.Name, p, now.places[p])
		}
	}
	for _, side := range []answer{then, now} {
		for p := range side.places {
			if then.places[p] != now.places[p] && !slices.Contains(places, p) {
				s.Fatalf("%s: %v is in no change: before %s, after %s", id.Name, p, then.places[p], now.places[p])
			}
		}
	}
}

// checkEdited compares EditedDataplanes with the changes of the dataplanes' own
// resources.
func checkEdited(t testing.TB, before, after *core.View) {
	t.Helper()
	want := map[resource.ID]bool{}
	for _, c := range core.Compare(before, after) {
		for _, d := range c.Dataplanes() {
			if c.OwnResource {
				want[d.ID] = true
			}
		}
	}
	got := map[resource.ID]bool{}
	for old, next := range core.EditedDataplanes(before, after) {
		id := stdcmp.Or(next, old).ID
		if got[id] || before.Dataplane(id) != old || after.Dataplane(id) != next {
			t.Fatalf("%s: it is edited twice, or other than in the views", id)
		}
		got[id] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("edited dataplanes: %s", diff)
	}
}

// sameDataplaneContent compares dataplanes without their positions. A missing and
// an empty list of outbounds are the same.
func sameDataplaneContent(a, b *resource.Dataplane) bool {
	return cmp.Equal(a, b, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(resource.Meta{}, "Pos"), cmpopts.IgnoreUnexported(resource.Dataplane{}))
}

// checkZones expects that a commit names each destination that clients reach at other
// addresses of zone proxies, or whose certificates are in a changed Secret.
func (s *sequence) checkZones(commit core.Commit) {
	s.Helper()
	named := map[resource.ID]core.DestinationChange{}
	for _, c := range commit.DestinationChanges() {
		named[c.Destination] = c
	}
	for _, mesh := range commit.After.Meshes() {
		before, after := zonesOf(commit.Before, mesh), zonesOf(commit.After, mesh)
		secret := resource.ID{Kind: "Secret", Mesh: mesh, Name: "ca"}
		secrets := !sameSecret(commit.Before.Object(secret), commit.After.Object(secret))
		for _, d := range commit.After.Destinations(mesh).All() {
			id, differ := d.Identity().ID, false
			for _, zone := range []string{"east", "west_1%"} {
				switch d := d.(type) {
				case *resource.MeshService:
					differ = differ || d.Zone() == zone && !slices.Equal(before.Addresses(zone), after.Addresses(zone))
				case *resource.MeshExternalService:
					differ = differ || destination.InZone(d, zone) && !slices.EqualFunc(before.Egresses(zone), after.Egresses(zone), func(a, b destination.Egress) bool {
						return a.ZoneAddress == b.ZoneAddress && a.Zone == b.Zone
					})
					differ = differ || secrets && d.Spec.TLS != nil
				}
			}
			if differ && len(named[id].Zones) == 0 {
				s.Fatalf("%s is reached in another way, and no change names what changed: %+v", id, named[id])
			}
			for _, cause := range named[id].Zones {
				if cause.Kind == "Secret" && !secrets {
					s.Fatalf("%s is changed by %s, which is the same", id, cause)
				}
			}
		}
	}
}

// zonesOf returns how other zones and external services are reached, if there are identities.
func zonesOf(v *core.View, mesh string) *destination.Zones {
	proxies := slices.DeleteFunc(slices.Clone(v.Dataplanes(mesh)), func(d *resource.Dataplane) bool { return len(d.Listeners) == 0 })
	return destination.NewZones(destination.ZoneSources{
		Semantics: v.Semantics(), Identified: true, Objects: v.Objects(mesh), Globals: v.Objects(""), Proxies: proxies,
	})
}

func sameSecret(a, b resource.Object) bool {
	if a == nil || b == nil {
		return a == b
	}
	return string(a.(*resource.ObjectOf[specs.Secret]).Spec.Data) == string(b.(*resource.ObjectOf[specs.Secret]).Spec.Data)
}
