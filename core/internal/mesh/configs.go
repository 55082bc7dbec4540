package mesh

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Configs returns the configs of a dataplane, sorted by kind, for the kinds with
// policies that select it. For a dataplane of the state the slice is shared and must
// not be changed; for another one it is computed.
func (m *State) Configs(d *resource.Dataplane, scope results.Scope) []*results.Config {
	if p := m.profileOf(d); p != nil {
		return p.configs(scope)
	}
	selected := m.index.Select(d, scope, new(match.Buffer))
	routes := routesOf(selected)
	var configs []*results.Config
	for group := range groupByKind(selected) {
		kind := m.kinds.Lookup(group[0].Policy.Kind)
		configs = append(configs, m.blocks.Evaluate(kind, d, matched.NewMatched(group), routes))
	}
	return configs
}

// Config returns the config of a dataplane by the policies of one kind. If none
// of them selects the dataplane, its outbounds and their routes have no confs.
func (m *State) Config(d *resource.Dataplane, kind *resource.Kind, scope results.Scope) *results.Config {
	configs := m.Configs(d, scope)
	if at, found := slices.BinarySearchFunc(configs, kind.Name, func(c *results.Config, kind string) int { return strings.Compare(c.Kind.Name, kind) }); found {
		return configs[at]
	}
	var routes []*resource.Policy
	for _, config := range configs {
		if config.Kind.IsRoute() {
			for _, s := range config.Matched.All() {
				routes = append(routes, s.Policy)
			}
		}
	}
	return m.blocks.Evaluate(kind, d, results.Matched{}, routes)
}
