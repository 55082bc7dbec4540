package core

import (
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// part returns the part of a kind, or nil. A nil selection has none.
func (s *selection) part(kind string) *rules.Part {
	if s == nil {
		return nil
	}
	for _, p := range s.parts {
		if p.Kind().Name == kind {
			return p
		}
	}
	return nil
}

// parts returns what the selections of a class are made of, each part once.
func (k *class) parts() []*rules.Part {
	if k.enforced == nil {
		return nil
	}
	if k.shadow == k.enforced {
		return k.enforced.parts
	}
	parts := slices.Clone(k.enforced.parts)
	for _, p := range k.shadow.parts {
		if !slices.Contains(parts, p) {
			parts = append(parts, p)
		}
	}
	return parts
}

// config returns the config that an outcome has for a part with those routes,
// or nil. A nil outcome has none.
func (o *outcome) config(part *rules.Part, routes []*resource.Policy) *rules.Config {
	if o == nil {
		return nil
	}
	at := slices.Index(o.selection.parts, part)
	if at < 0 || !slices.Equal(o.selection.routes, routes) {
		return nil
	}
	return o.configs[at]
}

// outboundConfigs returns the configs that hold references of their own, each
// once. A nil profile has none.
func (p *profile) outboundConfigs() []*rules.Config {
	if p == nil {
		return nil
	}
	var configs []*rules.Config
	for _, o := range []*outcome{p.enforced, p.shadow} {
		for i, part := range o.selection.parts {
			if config := o.configs[i]; config != part.Config() && !slices.Contains(configs, config) {
				configs = append(configs, config)
			}
		}
	}
	return configs
}

// kindGroups yields the runs of one kind of a selection, which is sorted by
// kind.
func kindGroups(selected []match.Selected) iter.Seq[[]match.Selected] {
	return func(yield func([]match.Selected) bool) {
		for len(selected) > 0 {
			kind := selected[0].Policy.Kind
			n := slices.IndexFunc(selected, func(s match.Selected) bool { return s.Policy.Kind != kind })
			if n < 0 {
				n = len(selected)
			}
			if !yield(selected[:n:n]) {
				return
			}
			selected = selected[n:]
		}
	}
}

// routesOf returns the routes among the policies that select a dataplane.
func routesOf(selected []match.Selected) []*resource.Policy {
	var routes []*resource.Policy
	for group := range kindGroups(selected) {
		if !group[0].Policy.Type.IsRoute() {
			continue
		}
		for i := range group {
			routes = append(routes, group[i].Policy)
		}
	}
	return routes
}
