package mesh

import (
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// kind returns the class config of a kind, or nil. A nil selection has none.
func (s *selection) kind(name string) *blocks.ClassConfig {
	if s == nil {
		return nil
	}
	for _, k := range s.kinds {
		if k.Kind().Name == name {
			return k
		}
	}
	return nil
}

// withShadowLabel returns for each of the kinds the positions of the policies with
// the shadow label. They are found once.
func (s *selection) withShadowLabel() [][]int {
	s.once.Do(func() {
		s.shadowed = make([][]int, len(s.kinds))
		for i, kind := range s.kinds {
			for at, m := range kind.Matched().All() {
				if m.Policy.Shadow() {
					s.shadowed[i] = append(s.shadowed[i], at)
				}
			}
		}
	})
	return s.shadowed
}

// kinds returns the class configs of both selections, each once.
func (c *classState) kinds() []*blocks.ClassConfig {
	if c.enforced == nil {
		return nil
	}
	if c.shadow == c.enforced {
		return c.enforced.kinds
	}
	kinds := slices.Clone(c.enforced.kinds)
	for _, k := range c.shadow.kinds {
		if !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// config returns the config for a class config and routes, or nil if there is
// none. A nil receiver has none.
func (s *scopeConfigs) config(kind *blocks.ClassConfig, routes []*resource.Policy) *rules.Config {
	if s == nil {
		return nil
	}
	at := slices.Index(s.selection.kinds, kind)
	if at < 0 || !slices.Equal(s.selection.routes, routes) {
		return nil
	}
	return s.configs[at]
}

// outboundConfigs returns the configs with references of their own, each once. A
// nil profile has none.
func (p *profileView) outboundConfigs() []*rules.Config {
	if p == nil {
		return nil
	}
	var configs []*rules.Config
	for _, s := range []*scopeConfigs{p.enforced, p.shadow} {
		for i, kind := range s.selection.kinds {
			if config := s.configs[i]; config != kind.Config() && !slices.Contains(configs, config) {
				configs = append(configs, config)
			}
		}
	}
	return configs
}

// groupByKind yields the policies of one kind after another. The selected
// policies are sorted by kind.
func groupByKind(selected []rules.Selected) iter.Seq[[]rules.Selected] {
	return func(yield func([]rules.Selected) bool) {
		for len(selected) > 0 {
			kind := selected[0].Policy.Kind
			n := slices.IndexFunc(selected, func(s rules.Selected) bool { return s.Policy.Kind != kind })
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
func routesOf(selected []rules.Selected) []*resource.Policy {
	var routes []*resource.Policy
	for group := range groupByKind(selected) {
		if !group[0].Policy.IsRoute() {
			continue
		}
		for i := range group {
			routes = append(routes, group[i].Policy)
		}
	}
	return routes
}
