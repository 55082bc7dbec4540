package mesh

import (
	"iter"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// classConfigs are the configs of a class in one scope, without outbounds: the result of the
// policies that select the class, kind by kind. Classes can share it. It is immutable.
type classConfigs struct {
	configs []*blocks.ClassConfig // sorted by kind; only kinds with policies
	routes  []*resource.Policy

	once     sync.Once
	shadowed [][]int // see withShadowLabel
}

// configFor returns the config of a kind, or nil. A nil receiver has none.
func (s *classConfigs) configFor(kind string) *blocks.ClassConfig {
	if s == nil {
		return nil
	}
	for _, c := range s.configs {
		if c.Kind().Name == kind {
			return c
		}
	}
	return nil
}

// withShadowLabel returns for each of the configs the positions of the policies with
// the shadow label. They are found once.
func (s *classConfigs) withShadowLabel() [][]int {
	s.once.Do(func() {
		s.shadowed = make([][]int, len(s.configs))
		for i, config := range s.configs {
			for at, m := range config.Matched().All() {
				if m.Policy.Shadow() {
					s.shadowed[i] = append(s.shadowed[i], at)
				}
			}
		}
	})
	return s.shadowed
}

// config returns the config for a class config and routes, or nil if there is
// none. A nil receiver has none.
func (s *profileConfigs) config(of *blocks.ClassConfig, routes []*resource.Policy) *results.Config {
	if s == nil {
		return nil
	}
	at := slices.Index(s.class.configs, of)
	if at < 0 || !slices.Equal(s.class.routes, routes) {
		return nil
	}
	return s.configs[at]
}

// groupByKind yields the policies of one kind after another. The selected
// policies are sorted by kind.
func groupByKind(selected []results.Selected) iter.Seq[[]results.Selected] {
	return func(yield func([]results.Selected) bool) {
		for len(selected) > 0 {
			kind := selected[0].Policy.Kind
			n := slices.IndexFunc(selected, func(s results.Selected) bool { return s.Policy.Kind != kind })
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
func routesOf(selected []results.Selected) []*resource.Policy {
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
