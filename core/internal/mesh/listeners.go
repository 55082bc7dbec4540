package mesh

import (
	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// ListenerConfigs returns the configs of the listeners of a builtin gateway by the policies
// of one kind, parallel to [resource.Dataplane.GatewayListeners]. They are computed at each
// call: gateways are few, and nothing else depends on them.
func (m *State) ListenerConfigs(d *resource.Dataplane, kind *resource.Kind, scope rules.Scope) []*rules.ListenerConfig {
	listeners := d.GatewayListeners()
	if len(listeners) == 0 || kind.Default != nil {
		return nil
	}
	matched := m.Config(d, kind, scope).Matched
	var inbounds []*rules.InboundConfig
	if m.index.Semantics().GatewayRules(kind) {
		// The rules of a listener are those of an inbound that the same policies select.
		alike := &resource.Dataplane{Meta: d.Meta, Inbounds: make([]resource.Inbound, len(listeners))}
		inbounds = blocks.Evaluate(m.index.Semantics(), kind, alike, matched, nil).Inbounds
	}
	configs := make([]*rules.ListenerConfig, len(listeners))
	for i := range configs {
		configs[i] = rules.ListenerTo(kind, matched, i, listeners[i].Hostname)
		if configs[i].Inbound = new(rules.InboundConfig); inbounds != nil {
			configs[i].Inbound = inbounds[i]
		}
	}
	return configs
}
