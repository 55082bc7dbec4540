package diff

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// equalOutbounds contains, by kind and index, whether an outbound of a dataplane is the same
// and has equal confs in both views. Most are, and need no name and no place.
type equalOutbounds map[*resource.Kind][]bool

func (d *differ) equalOutbounds(p pair, before, after []*results.Config) equalOutbounds {
	all := equalOutbounds{}
	next := map[*resource.Kind]*results.Config{}
	for _, config := range after {
		next[config.Kind] = config
	}
	for _, config := range before {
		if next[config.Kind] == nil || config.Kind.To == nil {
			continue
		}
		a, b := d.before.outbounds(config, p.before), d.after.outbounds(next[config.Kind], p.after)
		if len(a) != len(b) {
			continue
		}
		equal := make([]bool, len(a))
		for i := range a {
			equal[i] = isSameOutbound(&a[i], &b[i]) && d.sameConfs(config.Kind.To, &a[i].OutboundConfig, &b[i].OutboundConfig)
		}
		all[config.Kind] = equal
	}
	return all
}

// isSameOutbound reports whether answers name two outbounds equally.
func isSameOutbound(a, b *core.Outbound) bool {
	if x, y := a.Listed, b.Listed; x != nil && y != nil {
		return x == y || x.Address == y.Address && x.Port == y.Port && slices.Equal(x.Tags, y.Tags)
	}
	x, y := a.Destination, b.Destination
	return x == y || x != nil && y != nil && x.Destination == y.Destination && x.Address == y.Address && x.Listens == y.Listens && x.Port.Name == y.Port.Name
}

// sameConfs reports whether the fields of two outbounds and of their routes are equal.
func (d *differ) sameConfs(section *resource.Section, a, b *results.OutboundConfig) bool {
	same := func(a, b *results.Effective) bool {
		return len(d.fields.differ(d.flats[0].flatConfOf(section, a), d.flats[1].flatConfOf(section, b))) == 0
	}
	if len(a.Routes) != len(b.Routes) || !same(a.Effective, b.Effective) {
		return false
	}
	for i := range a.Routes {
		if a.Routes[i].Route != b.Routes[i].Route || !same(a.Routes[i].Effective, b.Routes[i].Effective) {
			return false
		}
	}
	return true
}
