package inspect

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// ProxyRules is the answer of the Inspect API about a dataplane, or a part of it (SPEC
// 10, in the form of 002).
type ProxyRules struct {
	Policies []KindRules `json:"policies"` // sorted by kind
}

// KindRules are the rules of one policy kind.
type KindRules struct {
	Kind    string      `json:"kind"`
	Rules   []ProxyRule `json:"rules"`
	Origins []OriginRef `json:"origins"` // the policies of all rules, sorted by KRI
}

// OriginRef is a policy from which a conf comes.
type OriginRef struct {
	KRI string `json:"kri"`
}

// ProxyRule is a conf with the place to which it applies. Without a place it
// applies to the whole dataplane or to the whole part in the question.
type ProxyRule struct {
	Conf    resource.Conf `json:"conf"`
	Origin  string        `json:"origin,omitempty"`  // of an unmerged rule: the KRI of its policy
	Origins []ItemRef     `json:"origins,omitempty"` // of a merged conf, in the order applied

	Inbound  *InboundRef         `json:"inbound,omitempty"`
	Listener *PlaceListener      `json:"listener,omitempty"`
	Hostname string              `json:"hostname,omitempty"` // of routes of a listener
	Outbound *OutboundRef        `json:"outbound,omitempty"`
	Route    string              `json:"route,omitempty"` // of the outbound: KRI
	Selector *partition.Selector `json:"selector,omitempty"`
	Match    *conf.Match         `json:"match,omitempty"`
}

// NewProxyPolicies returns the confs that apply to a dataplane as a whole: the confs
// of kinds without arrays.
func NewProxyPolicies(view *core.View, d *resource.Dataplane, options Options) *ProxyRules {
	a := newDataplaneAnswer(view, d, options)
	return a.proxyRules(a.whole)
}

// NewInboundPolicies returns the rules of an inbound or a listener, given by the index that
// [find.Point] returns. It returns the same errors as [NewDataplane].
func NewInboundPolicies(view *core.View, d *resource.Dataplane, point int, options Options) (*ProxyRules, error) {
	a := newDataplaneAnswer(view, d, options)
	answer := a.proxyRules(func(config *results.Config) []ProxyRule {
		if point >= len(d.Inbounds) {
			return a.listenerRules(config, point-len(d.Inbounds), nil)
		}
		return a.inboundRules(config, point, nil)
	})
	return answer, a.err()
}

// NewOutboundPolicies returns the confs of an outbound, given by the index that
// [find.Outbound] returns, and of its routes.
func NewOutboundPolicies(view *core.View, d *resource.Dataplane, outbound int, options Options) *ProxyRules {
	a := newDataplaneAnswer(view, d, options)
	return a.proxyRules(func(config *results.Config) []ProxyRule { return a.outboundRules(config, outbound) })
}

// NewProxyRules returns all rules of a dataplane: its own confs, the rule view of `to`
// (SPEC 4.5), and the rules of each inbound. It returns the same errors as
// [NewDataplane].
func NewProxyRules(view *core.View, d *resource.Dataplane, options Options) (*ProxyRules, error) {
	a := newDataplaneAnswer(view, d, options)
	answer := a.proxyRules(func(config *results.Config) []ProxyRule {
		out := a.whole(config)
		if config.Kind.To != nil {
			out = append(out, InboundRules{From: a.toRules(config)}.rulesAt(ProxyRule{})...)
		}
		for i := range config.Inbounds {
			out = append(out, a.inboundRules(config, i, InboundPlace(d, i))...)
		}
		refs, _ := ListenerPoints(view, d)
		for i := range refs {
			out = append(out, a.listenerRules(config, i, &PlaceListener{refs[i].Name, refs[i].Type})...)
		}
		return out
	})
	return answer, a.err()
}

// proxyRules collects the rules of each kind. It omits kinds without rules.
func (a *dataplaneAnswer) proxyRules(rulesOf func(*results.Config) []ProxyRule) *ProxyRules {
	answer := &ProxyRules{Policies: []KindRules{}}
	for _, config := range a.configs {
		if list := rulesOf(config); len(list) > 0 {
			answer.Policies = append(answer.Policies, KindRules{Kind: config.Kind.Name, Rules: list, Origins: originsOf(list)})
		}
	}
	return answer
}

// originsOf returns the policies of the rules.
func originsOf(list []ProxyRule) []OriginRef {
	origins := []OriginRef{}
	for i := range list {
		if list[i].Origin != "" {
			origins = append(origins, OriginRef{list[i].Origin})
		}
		for _, o := range list[i].Origins {
			origins = append(origins, OriginRef{o.KRI})
		}
	}
	slices.SortFunc(origins, func(a, b OriginRef) int { return strings.Compare(a.KRI, b.KRI) })
	return slices.Compact(origins)
}

// whole returns the conf of a kind for the dataplane as a whole.
func (a *dataplaneAnswer) whole(config *results.Config) []ProxyRule {
	return merged(NewEffectiveConf(config.Default, config.Kind.Default, a.options), ProxyRule{})
}

// merged returns a rule with a merged conf, or no rule if there is no conf.
func merged(c *EffectiveConf, rule ProxyRule) []ProxyRule {
	if c == nil {
		return nil
	}
	rule.Conf, rule.Origins = c.Conf, c.Origins
	return []ProxyRule{rule}
}

// outboundRules returns the confs of an outbound and of its routes.
func (a *dataplaneAnswer) outboundRules(config *results.Config, i int) []ProxyRule {
	if config.Kind.To == nil {
		return nil
	}
	ref, confs := OutboundAt(a.view, config, a.dataplane, ScopeOf(a.options.Shadow), i)
	o := newOutbound(ref, confs, config.Kind, a.options)
	out := merged(o.EffectiveConf, ProxyRule{Outbound: &o.Outbound})
	for _, r := range o.Routes {
		out = append(out, merged(r.EffectiveConf, ProxyRule{Outbound: &o.Outbound, Route: r.Route})...)
	}
	return out
}

// inboundRules returns the rules of an inbound: unmerged rules, rules by match, and rules
// by the clients' tags. place is the place of each rule, or nil.
func (a *dataplaneAnswer) inboundRules(config *results.Config, i int, place *InboundRef) []ProxyRule {
	if config.Kind.From == nil && config.Kind.Rules == nil {
		return nil
	}
	return a.inbound(config, i).rulesAt(ProxyRule{Inbound: place})
}

// listenerRules returns the confs and rules of a listener, given by its index. place is the
// place of each rule, or nil.
func (a *dataplaneAnswer) listenerRules(config *results.Config, i int, place *PlaceListener) []ProxyRule {
	configs := a.view.ListenerConfigs(a.dataplane, config.Kind.Name, ScopeOf(a.options.Shadow))
	if configs == nil {
		return nil
	}
	refs, first := ListenerPoints(a.view, a.dataplane)
	l := a.listener(config.Kind, refs[i], first+i, configs[i])
	out := merged(l.To, ProxyRule{Listener: place})
	for _, host := range l.Hosts {
		out = append(out, merged(host.EffectiveConf, ProxyRule{Listener: place, Hostname: host.Hostname})...)
	}
	return append(out, l.rulesAt(ProxyRule{Listener: place})...)
}

// rulesAt returns the rules as rules of a place.
func (r InboundRules) rulesAt(place ProxyRule) (out []ProxyRule) {
	for _, p := range r.Permissions {
		rule := place
		rule.Conf, rule.Origin = p.Conf, p.KRI
		out = append(out, rule)
	}
	for i := range r.Rules {
		rule := place
		rule.Match = &r.Rules[i].Match
		out = append(out, merged(r.Rules[i].EffectiveConf, rule)...)
	}
	for i := range r.From {
		rule := place
		rule.Selector = &r.From[i].Selector
		out = append(out, merged(r.From[i].EffectiveConf, rule)...)
	}
	return out
}
