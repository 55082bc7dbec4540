package mesh

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// EditedObjects yields the objects that were added, changed or removed, each as an old and
// a new version, nil if it does not exist.
func EditedObjects(before, after Objects) (edited [][2]resource.Object) {
	byID := func(a, b resource.Object) int { return a.Identity().Compare(b.Identity().ID) }
	for old, next := range sorted.Join(before, after, byID) {
		if old != next && !equalZoneObject(old, next) {
			edited = append(edited, [2]resource.Object{old, next})
		}
	}
	return edited
}

// equalZoneObject reports whether two objects on which the way to destinations depends are
// equal, except for their positions in files.
func equalZoneObject(a, b resource.Object) bool {
	return a != nil && b != nil && equalMeta(a.Identity(), b.Identity()) && reflect.DeepEqual(zoneSpecOf(a), zoneSpecOf(b))
}

// zoneSpecOf returns the content of such an object; nil for other objects.
func zoneSpecOf(o resource.Object) any {
	switch o := o.(type) {
	case *resource.ObjectOf[specs.MeshZoneAddress]:
		return o.Spec
	case *resource.ZoneIngress:
		return o.Spec
	case *resource.ZoneEgress:
		return o.Spec
	case *resource.ObjectOf[specs.Secret]:
		return o.Spec
	}
	return nil
}

// addZones adds the destinations that clients reach in another way because a zone proxy, its
// address or a Secret was added, changed or removed (SPEC 17.4). Globals are the edited
// objects without a mesh.
func (c *destinationComparison) addZones(globals [][2]resource.Object) {
	edited := globals
	if c.before == nil || c.after == nil || c.before.resources != c.after.resources {
		edited = slices.Concat(globals, EditedObjects(objectsOf(c.before), objectsOf(c.after)))
	}
	for _, versions := range edited {
		for _, o := range versions {
			if o != nil {
				c.addZoneObject(o)
			}
		}
	}
	for old, next := range Edited(c.before, c.after) {
		for _, d := range []*resource.Dataplane{old, next} {
			if d != nil && slices.ContainsFunc(d.Listeners, func(l resource.Listener) bool { return l.Egress }) {
				c.addExternal(d.ID, enforce.ZoneOf(d))
			}
		}
	}
}

func (c *destinationComparison) addZoneObject(o resource.Object) {
	id := o.Identity().ID
	switch o := o.(type) {
	case *resource.ObjectOf[specs.MeshZoneAddress]:
		c.addZone(id, o.Zone())
	case *resource.ZoneIngress:
		c.addZone(id, o.Zone())
	case *resource.ZoneEgress:
		c.addExternal(id, o.Zone())
	case *resource.ObjectOf[specs.Secret]:
		c.addThrough(id, func(_ *State, d resource.Destination) bool {
			external, is := d.(*resource.MeshExternalService)
			return is && usesSecret(external.Spec.TLS, id.Name)
		})
	}
}

// addZone adds the destinations that clients of other zones reach through the ingress of a
// zone.
func (c *destinationComparison) addZone(by resource.ID, zone string) {
	c.addThrough(by, func(m *State, d resource.Destination) bool {
		in := func(s *resource.MeshService) bool { return s.Zone() == zone }
		switch d := d.(type) {
		case *resource.MeshService:
			return m.hasZones() && in(d)
		case *resource.MeshMultiZoneService:
			return m.hasZones() && slices.ContainsFunc(m.Destinations().MeshServicesOf(d), in)
		}
		return false
	})
}

// addExternal adds the external services that clients reach through an egress of a zone.
func (c *destinationComparison) addExternal(by resource.ID, zone string) {
	c.addThrough(by, func(m *State, d resource.Destination) bool {
		_, is := d.(*resource.MeshExternalService)
		return is && m.hasZones() && destination.InZone(d, zone)
	})
}

// addThrough adds the destinations of both states for which reached returns true.
func (c *destinationComparison) addThrough(by resource.ID, reached func(*State, resource.Destination) bool) {
	for _, m := range []*State{c.before, c.after} {
		if m == nil {
			continue
		}
		for _, d := range m.Destinations().All() {
			if reached(m, d) {
				changed := c.changeFor(d.Identity().ID)
				changed.Zones = append(changed.Zones, by)
			}
		}
	}
}

// hasZones reports whether zone proxies are used.
func (m *State) hasZones() bool { return m.index.Semantics().Zones().Proxied }

// usesSecret reports whether a certificate or key of an external service is in a Secret.
func usesSecret(tls *specs.ExternalTLS, name string) bool {
	if tls == nil || tls.Verification == nil {
		return false
	}
	v := tls.Verification
	return slices.ContainsFunc([]*specs.Certificate{v.CACert, v.ClientCert, v.ClientKey}, func(c *specs.Certificate) bool {
		if c == nil {
			return false
		}
		secret, is := c.SecretName()
		return is && secret == name
	})
}

// addIdentities adds the destinations of other zones if the mesh gets its first identity, or
// loses its last one: without one they are not reached (SPEC 17.4).
func (c *destinationComparison) addIdentities() {
	if c.before == nil || c.after == nil || c.before.isIdentified() == c.after.isIdentified() {
		return
	}
	for _, by := range c.identities() {
		c.addThrough(by, func(m *State, d resource.Destination) bool {
			switch d := d.(type) {
			case *resource.MeshService:
				return m.hasZones() && d.Zone() != ""
			case *resource.MeshMultiZoneService:
				return m.hasZones()
			}
			return false
		})
	}
}

// isIdentified reports whether dataplanes of the mesh may have identities.
func (m *State) isIdentified() bool {
	return len(m.Identities().All()) > 0 || m.index.Semantics().Zones().MTLSGivesIdentity && hasMTLS(m.Document())
}

// identities returns the MeshIdentities of both states, and the Mesh if its mtls differs.
func (c *destinationComparison) identities() (ids []resource.ID) {
	for _, m := range []*State{c.before, c.after} {
		for _, identity := range m.Identities().All() {
			ids = append(ids, identity.ID)
		}
	}
	if was, is := c.before.Document(), c.after.Document(); hasMTLS(was) != hasMTLS(is) {
		ids = append(ids, cmp.Or(is, was).ID)
	}
	return ids
}

func hasMTLS(m *resource.Mesh) bool { return m != nil && m.Spec.MTLS.Enabled() != nil }
