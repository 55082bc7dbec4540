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
	byProperty map[semantics.Fact][]*resource.MeshService // under the zero fact: of no property
	byID       map[resource.ID]*resource.MeshService
}

// NewSelectors returns the selectors of MeshServices. A MeshService that selects no
// dataplane is only in byID.
func NewSelectors(s semantics.Semantics, services []*resource.MeshService) *Selectors {
	list := &Selectors{byProperty: map[semantics.Fact][]*resource.MeshService{}, byID: map[resource.ID]*resource.MeshService{}}
	for _, service := range services {
		list.byID[service.ID] = service
		if p, ok := propertyOf(s, &service.Spec.Selector); ok {
			list.byProperty[p] = append(list.byProperty[p], service)
		}
	}
	return list
}

// propertyOf returns a tag, a label or a name that a selector requires, or zero for none. It
// returns false if the selector selects no dataplane.
func propertyOf(s semantics.Semantics, selector *specs.ServiceSelector) (p semantics.Fact, ok bool) {
	switch {
	case selector.DataplaneRef != nil:
		return semantics.Fact{Space: semantics.Name, Value: selector.DataplaneRef.Name}, true
	case selector.DataplaneLabels != nil:
		for _, label := range selector.DataplaneLabels.MatchLabels {
			if label.Key != resource.DisplayNameLabel { // a dataplane has a display name even without the label
				return semantics.Fact{Space: semantics.LabelPair, Key: label.Key, Value: label.Value}, true
			}
		}
		return semantics.Fact{}, true
	case len(selector.DataplaneTags) == 0 || !s.SelectsByTags():
		return semantics.Fact{}, false
	}
	tag := selector.DataplaneTags[0]
	if service, present := selector.DataplaneTags.Get(resource.ServiceTag); present {
		tag = resource.Tag{Key: resource.ServiceTag, Value: service}
	}
	return semantics.Fact{Space: semantics.TagPair, Key: tag.Key, Value: tag.Value}, true
}

// All returns the MeshServices by identity. The caller must not change the map.
func (s *Selectors) All() map[resource.ID]*resource.MeshService { return s.byID }

// ServicesOf returns the distinct MeshServices that select a dataplane.
func (s *Selectors) ServicesOf(d *resource.Dataplane) (found []*resource.MeshService) {
	if len(s.byProperty) == 0 {
		return nil
	}
	add := func(p semantics.Fact) {
		for _, service := range s.byProperty[p] {
			if selects(service, d) && !slices.Contains(found, service) {
				found = append(found, service)
			}
		}
	}
	add(semantics.Fact{})
	add(semantics.Fact{Space: semantics.Name, Value: d.Name})
	add(semantics.Fact{Space: semantics.Name, Value: d.Name + "." + d.Namespace})
	for _, label := range d.Labels {
		add(semantics.Fact{Space: semantics.LabelPair, Key: label.Key, Value: label.Value})
	}
	for i := range d.Inbounds {
		for _, tag := range d.Inbounds[i].Tags {
			add(semantics.Fact{Space: semantics.TagPair, Key: tag.Key, Value: tag.Value})
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
