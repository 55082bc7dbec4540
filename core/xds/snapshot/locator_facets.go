package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// facetSets returns the sets of the values that make a difference, of each facet that is
// used and not known.
func (n *located) facetSets(s *State, known, used facetSet) (sets []*variant.ConstraintSet, err error) {
	for _, constraints := range n.facetConstraints(s, known, used) {
		set, err := variant.FirstMatch(constraints)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// facetConstraints returns the constraints on the values of each facet that is used and
// not known: zones and tags of endpoints, and zones that confs name.
func (n *located) facetConstraints(s *State, known, used facetSet) (lists [][]variant.Constraint) {
	if used.bits&^known.bits&zoneFacet != 0 {
		var zones []string
		for _, e := range n.set.list {
			zones = append(zones, e.Zone)
		}
		n.eachConf(s, func(t *xds.Translator, conf resource.Conf) {
			if t.Zones != nil {
				zones = append(zones, t.Zones(conf)...)
			}
		})
		lists = append(lists, constraintsOf(zones, variant.InZone))
	}
	for _, entry := range used.tags {
		if slices.Contains(known.tags, entry) {
			continue
		}
		reading, key := split(entry)
		var values []string
		for _, e := range n.set.list {
			values = append(values, e.Affinity(key))
		}
		lists = append(lists, constraintsOf(values, func(value string) variant.Constraint { return reading.constraint(key, value) }))
	}
	return lists
}

// constraint returns the constraint on parameters that have a value.
func (r tagReading) constraint(key, value string) variant.Constraint {
	tagged, labelled := variant.Equals(key, value), variant.Equals(variant.LabelKey(key), value)
	switch r {
	case readLabel:
		return labelled
	case readBoth:
		return variant.Or(tagged, variant.And(variant.Not(variant.Exists(key)), labelled))
	}
	return tagged
}

// declaredFacets returns the facets that the confs of the destination may lead a build to
// ask for.
func (n *located) declaredFacets(s *State) (declared facetSet) {
	n.eachConf(s, func(t *xds.Translator, conf resource.Conf) {
		if t.Zones != nil {
			declared.bits |= zoneFacet
		}
		if t.Tags != nil {
			keys := t.Tags(conf)
			for i := range keys {
				keys[i] = string(tagReadingOf(s.view.Semantics())) + keys[i]
			}
			declared = declared.with(facetSetOf(keys))
		}
	})
	return declared
}

// eachConf visits the confs of the policies that concern the destination, each with the
// translator of its kind.
func (n *located) eachConf(s *State, visit func(*xds.Translator, resource.Conf)) {
	for _, c := range n.compilations {
		for _, p := range c.Policies() {
			for _, t := range s.builder.translators {
				if t.Kind != p.Kind {
					continue
				}
				for i := range p.To {
					visit(t, p.To[i].Conf)
				}
			}
		}
	}
}

// constraintsOf returns a constraint for each distinct value that is not empty.
func constraintsOf(values []string, of func(string) variant.Constraint) (list []variant.Constraint) {
	slices.Sort(values)
	for _, value := range slices.Compact(values) {
		if value != "" {
			list = append(list, of(value))
		}
	}
	return list
}
