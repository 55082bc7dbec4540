package enforce

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Placement identifies a placement with which a binding overrides policies of a mesh.
// It is comparable.
type Placement struct {
	KindNamespace string // kind and namespace, separated by a slash
	Name          string
}

func placementOf(n name) Placement { return Placement{n.kind + "/" + n.namespace, n.name} }

// nodeName is the inverse of placementOf.
func (p Placement) nodeName() name {
	kind, namespace, _ := strings.Cut(p.KindNamespace, "/")
	return name{kind, namespace, p.Name}
}

// PlacementOf returns the placement of a binding.
func PlacementOf(b *ocm.PlacementBinding) Placement { return placementOf(placementName(b)) }

// String returns kind, namespace and name, separated by slashes.
func (p Placement) String() string { return p.KindNamespace + "/" + p.Name }

func (p Placement) compare(o Placement) int {
	return cmp.Or(strings.Compare(p.KindNamespace, o.KindNamespace), strings.Compare(p.Name, o.Name))
}

// Bindings returns the bindings with a mesh policy as a subject, sorted by name. A
// binding with the label kuma.io/mesh binds policies of that mesh only.
func (s *Hub) Bindings(p *resource.ID) []*ocm.PlacementBinding {
	n := s.lookup(meshPolicyName(p.Kind, p.Namespace, p.Name))
	if n == nil {
		return nil
	}
	var bindings []*ocm.PlacementBinding
	for _, id := range n.users {
		b := s.node(id).resource.(*ocm.PlacementBinding) // only bindings refer to a mesh policy
		if mesh, given := b.Labels.Get(resource.MeshLabel); !given || mesh == p.Mesh {
			bindings = append(bindings, b)
		}
	}
	slices.SortFunc(bindings, func(a, b *ocm.PlacementBinding) int { return strings.Compare(a.Name, b.Name) })
	return bindings
}

// Overrides returns the placements in which a mesh policy with the shadow label is
// enforced, sorted and distinct: Q ∪ R of SPEC 8.3.
func (s *Hub) Overrides(p *resource.ID) []Placement {
	var placements []Placement
	for _, b := range s.Bindings(p) {
		if b.Enforce {
			placements = append(placements, PlacementOf(b))
		}
	}
	slices.SortFunc(placements, Placement.compare)
	return slices.Compact(placements)
}

// AppendPlacements appends the placements that contain a dataplane, in no
// particular order. It considers only placements that [Hub.Overrides] returns
// for some policy.
func (s *Hub) AppendPlacements(dst []Placement, d *resource.Dataplane) []Placement {
	zone := ZoneOf(d)
	add := func(id uint32) {
		if n := s.node(id); (zone != "" || n.exposed.anywhere) && n.exposed.admits(d) {
			dst = append(dst, n.placement)
		}
	}
	if n := s.lookup(clusterName(zone)); n != nil {
		for _, id := range n.placements {
			if !s.sets[open].Contains(id) {
				add(id)
			}
		}
	}
	for id := range s.sets[open].All() {
		add(id)
	}
	return dst
}

// Regions returns regions that contain every dataplane of a placement. They may
// contain other dataplanes. The placement must be one that
// [Hub.AppendPlacements] can return.
func (s *Hub) Regions(p Placement) []Region {
	n := s.lookup(p.nodeName())
	if n == nil || n.exposed == nil {
		return nil
	}
	return regions(s.node, n.exposed, n.exposed.clusters, n.exposed.every)
}

// Membership is the condition for a dataplane to be in a placement: a zone and labels.
type Membership struct {
	Anywhere bool     // any zone, or none
	Every    bool     // any zone
	Zones    []string // one of these zones, sorted, unless Every or Anywhere is set
	Labels   []ocm.Requirement
	// Dataplanes are the only ones that meet the condition, sorted; nil: any can.
	Dataplanes []ocm.DataplaneName
}

// Condition returns the condition of a placement that [Hub.Overrides] returns, or
// false if the placement contains no dataplane.
func (s *Hub) Condition(p Placement) (Membership, bool) {
	n := s.lookup(p.nodeName())
	if n == nil || n.selection == nil {
		return Membership{}, false
	}
	c := Membership{Anywhere: n.selection.anywhere, Every: n.selection.every}
	if n.selection.listed != nil {
		c.Dataplanes = slices.SortedFunc(maps.Keys(n.selection.listed), ocm.DataplaneName.Compare)
		if len(c.Dataplanes) == 0 {
			return Membership{}, false
		}
	}
	if !c.Every {
		for id := range n.selection.clusters.All() {
			c.Zones = append(c.Zones, s.node(id).name.name)
		}
		slices.Sort(c.Zones)
	}
	if n.selection.dataplanes != nil {
		c.Labels = n.selection.dataplanes.Requirements()
	}
	return c, c.Anywhere || c.Every || len(c.Zones) > 0
}

// ZoneOf returns the cluster to which a dataplane belongs: its label, otherwise the
// tag of its first inbound or gateway that has one, otherwise "" (SPEC 8.3, 8.5).
func ZoneOf(d *resource.Dataplane) string {
	if zone, labelled := d.Labels.Get(resource.ZoneTag); labelled {
		return zone
	}
	for i := range d.Inbounds {
		if zone, tagged := d.Inbounds[i].Tags.Get(resource.ZoneTag); tagged {
			return zone
		}
	}
	if d.Gateway != nil {
		return d.Gateway.Tags.Value(resource.ZoneTag)
	}
	return ""
}

// MeshTarget returns the action of a mesh policy on a dataplane that it selects,
// and the bindings that cause it.
func (s *Hub) MeshTarget(p *resource.Policy, d *resource.Dataplane) Target {
	var placing, enforcing []string
	for _, b := range s.Bindings(&p.ID) {
		if !s.selects(b, d) {
			continue
		}
		if !b.SubFilter {
			placing = append(placing, b.Name)
		}
		if b.Enforce {
			enforcing = append(enforcing, b.Name)
		}
	}
	switch {
	case !p.Shadow():
		return Target{ocm.Enforce, placing}
	case len(enforcing) > 0:
		return Target{ocm.Enforce, enforcing}
	}
	return Target{ocm.Inform, placing}
}

// selects reports whether the placement of a binding selects a dataplane.
func (s *Hub) selects(b *ocm.PlacementBinding, d *resource.Dataplane) bool {
	zone, placement := ZoneOf(d), s.lookup(placementName(b))
	switch selection := placement.selection; {
	case selection == nil || !selection.admits(d):
		return false
	case selection.anywhere || zone == "":
		return selection.anywhere
	case selection.every:
		return true
	}
	id, known := s.names.Lookup(clusterName(zone))
	return known && placement.selection.clusters.Contains(id)
}

func placementName(b *ocm.PlacementBinding) name {
	return name{b.Placement.Kind, b.Namespace, b.Placement.Name}
}
