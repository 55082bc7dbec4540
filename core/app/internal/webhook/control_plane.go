package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Global is the zone that means the global control plane.
const Global = "global"

// ErrSeveralZones indicates that a document may belong to several control planes.
var ErrSeveralZones = errors.New("the input has resources of several control planes, and the file does not say which of them stores it")

// ControlPlane is the control plane by which documents would be stored.
type ControlPlane struct {
	zone  string   // "": not known, or there are no zones
	zones []string // of what is stored, sorted
	asked bool     // the zone was given
	// labels reports that a control plane has stored something: without it, documents stay as
	// they are.
	labels bool
	// inZone reports that some stored objects are copies from the global control plane.
	// atGlobal reports that the global control plane stored some itself.
	inZone, atGlobal bool
	// ofZones reports that some of what is stored are copies that zones sent: the control plane is
	// the global one.
	ofZones bool
	// kubernetes reports that stored resources have namespaces.
	kubernetes bool
	stored     map[place][]*resource.Meta
}

// place identifies a resource where a person wrote it.
type place struct{ kind, mesh, namespace, name string }

func placeOf(m *resource.Meta) place {
	return place{m.Kind, m.Mesh, homeNamespace(m), m.DisplayName()}
}

// homeNamespace returns the namespace where a resource was made. A person who writes one without
// a namespace for the global control plane on Kubernetes means that of the system.
func homeNamespace(m *resource.Meta) string {
	if home := m.HomeNamespace(); home != "" {
		return home
	}
	return m.Namespace
}

// isStored reports whether a control plane has computed the labels of a resource.
func isStored(m *resource.Meta) bool {
	_, labelled := m.Labels.Get(resource.OriginLabel)
	return labelled
}

// NewControlPlane returns the control plane that stored the resources of sets. Zone is the zone of files that
// are stored by it, [Global], or "" for the only zone that there is.
func NewControlPlane(zone string, sets ...*resource.Set) *ControlPlane {
	c := &ControlPlane{zone: zone, asked: zone != "", labels: zone != "", stored: map[place][]*resource.Meta{}}
	for _, set := range sets {
		for m := range labelled(set) {
			if isStored(m) {
				c.add(m)
			}
		}
	}
	slices.Sort(c.zones)
	c.zones = slices.Compact(c.zones)
	switch {
	case zone != "":
	case c.ofZones, len(c.zones) == 0 && c.labels:
		c.zone = Global
	case len(c.zones) == 1 && (c.inZone || !c.atGlobal):
		c.zone = c.zones[0]
	}
	return c
}

func (c *ControlPlane) add(m *resource.Meta) {
	c.labels = true
	c.kubernetes = c.kubernetes || m.Namespace != ""
	c.stored[placeOf(m)] = append(c.stored[placeOf(m)], m)
	switch m.Origin() {
	case resource.ZoneOrigin:
		if m.Zone() != "" {
			c.zones = append(c.zones, m.Zone())
		}
		c.ofZones = c.ofZones || m.Name == resource.SyncedName(m.Mesh, m.DisplayName(), m.Zone(), homeNamespace(m))
	case resource.GlobalOrigin:
		copied := m.DisplayName() != m.Name
		c.inZone, c.atGlobal = c.inZone || copied, c.atGlobal || !copied
	}
}

// Store labels the documents of a set that have no label of their origin, and sorts the set.
// The error is [ErrSeveralZones], or of two documents that are one resource.
func (c *ControlPlane) Store(set *resource.Set, s semantics.Semantics) error {
	if !c.labels || s == semantics.TargetRef {
		return nil
	}
	roles := map[*resource.Meta]string{}
	for _, p := range set.Policies {
		if role, ok := semantics.RoleOf(p, s == semantics.Kuma3); ok && p.Namespace != "" {
			roles[&p.Meta] = role.String()
		}
	}
	for m := range labelled(set) {
		if isStored(m) {
			continue
		}
		if err := c.store(m, roles[m]); err != nil {
			return err
		}
	}
	return set.Sort()
}

// store gives a resource the labels and the name that it has where it is stored. The text of a
// person wins over what the webhook would compute.
func (c *ControlPlane) store(m *resource.Meta, role string) error {
	zone, err := c.zoneOf(m)
	if err != nil {
		return err
	}
	home, name := homeNamespace(m), m.DisplayName()
	setMissing(m, resource.DisplayNameLabel, name)
	if home != "" {
		setMissing(m, resource.NamespaceLabel, home)
	}
	if role != "" {
		setMissing(m, resource.PolicyRoleLabel, role)
	}
	if zone != Global {
		m.Labels = m.Labels.With(resource.OriginLabel, "zone")
		setMissing(m, resource.ZoneTag, zone)
		c.rename(m, c.find(m, resource.ZoneOrigin, zone), c.ofZones, resource.SyncedName(m.Mesh, name, zone, home))
		return nil
	}
	copied := c.find(m, resource.GlobalOrigin, "")
	if copied == nil && (c.ofZones || len(c.stored) == 0) {
		return nil // what it stores itself has no label of an origin
	}
	m.Labels = m.Labels.With(resource.OriginLabel, "global")
	c.rename(m, copied, c.inZone, resource.SyncedName(m.Mesh, name, "", home))
	return nil
}

// rename gives a resource the name of what is stored of it or, where it is a copy, the name that
// Kuma gives to copies.
func (c *ControlPlane) rename(m, stored *resource.Meta, isCopy bool, synced string) {
	switch {
	case stored != nil:
		m.Name, m.Namespace = stored.Name, stored.Namespace
	case isCopy:
		m.Name = synced
		if c.kubernetes {
			m.Namespace = resource.SystemNamespace
		}
	}
}

// zoneOf returns the zone that stores a document, or [Global]. It is the given zone, else
// the document's own, else the zone of the resource that is stored at the same place, else
// the only zone.
func (c *ControlPlane) zoneOf(m *resource.Meta) (string, error) {
	if c.asked {
		return c.zone, nil
	}
	if zone := m.Zone(); zone != "" {
		return zone, nil
	}
	var zones []string
	for _, stored := range c.stored[placeOf(m)] {
		switch stored.Origin() {
		case resource.GlobalOrigin:
			zones = append(zones, Global)
		case resource.ZoneOrigin:
			zones = append(zones, stored.Zone())
		}
	}
	slices.Sort(zones)
	switch zones = slices.Compact(zones); {
	case len(zones) == 1:
		return zones[0], nil
	case len(zones) == 0 && c.zone != "":
		return c.zone, nil
	case slices.Contains(zones, c.zone):
		return c.zone, nil
	}
	return "", fmt.Errorf("%s: %s: %w: %s", m.Pos, m.ID, ErrSeveralZones, strings.Join(append(slices.Clone(c.zones), Global), ", "))
}

// find returns the stored resource of an origin and zone that a person wrote at the same place.
func (c *ControlPlane) find(m *resource.Meta, origin resource.Origin, zone string) *resource.Meta {
	for _, stored := range c.stored[placeOf(m)] {
		if stored.Origin() == origin && (zone == "" || stored.Zone() == zone) {
			return stored
		}
	}
	return nil
}

func setMissing(m *resource.Meta, key, value string) {
	if _, present := m.Labels.Get(key); !present {
		m.Labels = m.Labels.With(key, value)
	}
}
