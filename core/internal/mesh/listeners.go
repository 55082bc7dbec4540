package mesh

import (
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// ListenerConfigs returns the configs of the listeners of a builtin gateway or of a zone
// proxy by the policies of one kind. They are parallel to
// [resource.Dataplane.GatewayListeners] or [semantics.Semantics.ZoneListeners]. They are
// computed at each call: gateways and zone proxies are few, and nothing else depends on
// them.
func (m *State) ListenerConfigs(d *resource.Dataplane, kind *resource.Kind, scope results.Scope) []*results.ListenerConfig {
	if listeners := d.GatewayListeners(); len(listeners) > 0 {
		return m.gatewayConfigs(d, listeners, kind, scope)
	}
	zones := m.index.Semantics().ZoneListeners(d)
	if len(zones) == 0 || kind.From == nil && kind.Rules == nil {
		return nil
	}
	inbounds := m.listenerRules(d, len(zones), kind, ofListeners(m.Config(d, kind, scope).Matched, len(d.Inbounds), len(zones)))
	configs := make([]*results.ListenerConfig, len(zones))
	for i := range configs {
		configs[i] = &results.ListenerConfig{Inbound: inbounds[i]}
	}
	return configs
}

func (m *State) gatewayConfigs(d *resource.Dataplane, listeners []specs.GatewayListener, kind *resource.Kind, scope results.Scope) []*results.ListenerConfig {
	if kind.Default != nil {
		return nil
	}
	matched := m.Config(d, kind, scope).Matched
	var inbounds []*results.InboundConfig
	if m.index.Semantics().GatewayRules(kind) {
		inbounds = m.listenerRules(d, len(listeners), kind, matched)
	}
	configs := make([]*results.ListenerConfig, len(listeners))
	for i := range configs {
		configs[i] = m.blocks.Memo().ListenerTo(m.index.Semantics(), kind, matched, i, listeners[i].Hostname)
		if configs[i].Inbound = new(results.InboundConfig); inbounds != nil {
			configs[i].Inbound = inbounds[i]
		}
	}
	return configs
}

// listenerRules returns the rules of n listeners. They equal the rules of inbounds that the
// same policies select.
func (m *State) listenerRules(d *resource.Dataplane, n int, kind *resource.Kind, matched results.Matched) []*results.InboundConfig {
	alike := &resource.Dataplane{Meta: d.Meta, Inbounds: make([]resource.Inbound, n)}
	return m.blocks.Evaluate(kind, alike, matched, nil).Inbounds
}

// ofListeners returns matched policies with the points from first on as their inbounds.
func ofListeners(all results.Matched, first, n int) results.Matched {
	if first == 0 {
		return all
	}
	var list []results.Selected
	for _, s := range all.All() {
		of := results.Selected{Policy: s.Policy}
		for i := range n {
			if s.Inbounds.Has(first + i) {
				of.Inbounds.Add(i)
			}
		}
		list = append(list, of)
	}
	return matched.NewMatched(list)
}
