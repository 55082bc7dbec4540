package destination

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Selectors finds the MeshServices that select a dataplane (SPEC 17.4). Each MeshService is
// listed under one property that its selector requires, so only a few are compared with a
// dataplane. It is immutable.
type Selectors struct {
	byProperty map[property][]*resource.MeshService
	byID       map[resource.ID]*resource.MeshService
}

// property is a tag, a label or the name of a dataplane. Every dataplane has the zero
// property.
type property struct {
	of         propertyKind
	key, value string
}

type propertyKind uint8

const (
	anyDataplane propertyKind = iota
	dataplaneTag
	dataplaneLabel
	dataplaneName
)

// NewSelectors returns the selectors of MeshServices. A MeshService that selects no
// dataplane is only in byID.
func NewSelectors(s semantics.Semantics, services []*resource.MeshService) *Selectors {
	list := &Selectors{byProperty: map[property][]*resource.MeshService{}, byID: map[resource.ID]*resource.MeshService{}}
	for _, service := range services {
		list.byID[service.ID] = service
		if p, ok := propertyOf(s, &service.Spec.Selector); ok {
			list.byProperty[p] = append(list.byProperty[p], service)
		}
	}
	return list
}

// propertyOf returns a property that a selector requires, or false if the selector
// selects no dataplane.
func propertyOf(s semantics.Semantics, selector *specs.ServiceSelector) (p property, ok bool) {
	switch {
	case selector.DataplaneRef != nil:
		return property{dataplaneName, "", selector.DataplaneRef.Name}, true
	case selector.DataplaneLabels != nil:
		for _, label := range selector.DataplaneLabels.MatchLabels {
			if label.Key != resource.DisplayNameLabel { // a dataplane has a display name even without the label
				return property{dataplaneLabel, label.Key, label.Value}, true
			}
		}
		return property{}, true
	case len(selector.DataplaneTags) == 0 || !s.SelectsByTags():
		return property{}, false
	}
	tag := selector.DataplaneTags[0]
	if service, present := selector.DataplaneTags.Get(resource.ServiceTag); present {
		tag = resource.Tag{Key: resource.ServiceTag, Value: service}
	}
	return property{dataplaneTag, tag.Key, tag.Value}, true
}

// All returns the MeshServices by identity. The caller must not change the map.
func (s *Selectors) All() map[resource.ID]*resource.MeshService { return s.byID }

// Of returns the distinct MeshServices that select a dataplane.
func (s *Selectors) Of(d *resource.Dataplane) (found []*resource.MeshService) {
	if len(s.byProperty) == 0 {
		return nil
	}
	add := func(p property) {
		for _, service := range s.byProperty[p] {
			if selects(service, d) && !slices.Contains(found, service) {
				found = append(found, service)
			}
		}
	}
	add(property{})
	add(property{dataplaneName, "", d.Name})
	add(property{dataplaneName, "", d.Name + "." + d.Namespace})
	for _, label := range d.Labels {
		add(property{dataplaneLabel, label.Key, label.Value})
	}
	for i := range d.Inbounds {
		for _, tag := range d.Inbounds[i].Tags {
			add(property{dataplaneTag, tag.Key, tag.Value})
		}
	}
	return found
}

// selects reports whether a MeshService selects a dataplane that has a property of its
// selector. A MeshService selects no dataplane of another zone.
func selects(service *resource.MeshService, d *resource.Dataplane) bool {
	if inOtherZone(service.Zone(), enforce.ZoneOf(d)) {
		return false
	}
	switch s := &service.Spec.Selector; {
	case s.DataplaneRef != nil:
		return true
	case s.DataplaneLabels != nil:
		return d.HasLabels(s.DataplaneLabels.MatchLabels)
	default:
		return slices.ContainsFunc(d.Inbounds, func(in resource.Inbound) bool { return in.Tags.Contains(s.DataplaneTags) })
	}
}

// inOtherZone reports whether two resources are in different zones. A resource without a
// zone is in every zone.
func inOtherZone(a, b string) bool { return a != "" && b != "" && a != b }
