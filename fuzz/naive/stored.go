package naive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
	"github.com/meshmatch/meshmatch/core/kind/meshhealthcheck"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshmetric"
	"github.com/meshmatch/meshmatch/core/kind/meshtls"
	"github.com/meshmatch/meshmatch/core/kind/meshtrace"
)

// asStored returns the conf that a control plane merges (SPEC 17.5): with the fields that
// Kuma's schema sets, as if the item had them, and without those that Kuma 3 ignores.
func (m *mesh) asStored(conf any) any {
	if m.kuma3() {
		conf = withoutIgnored(conf)
	}
	if route, is := conf.(*meshhttproute.Conf); is && m.kumaLike() {
		return firstRulesWin(route)
	}
	tls, is := conf.(*meshtls.Conf)
	if !is || !m.kumaLike() || tls.TLSVersion == nil {
		return conf
	}
	auto := meshtls.TLSAuto
	version := meshtls.Version{Min: &auto, Max: &auto}
	if tls.TLSVersion.Min != nil {
		version.Min = tls.TLSVersion.Min
	}
	if tls.TLSVersion.Max != nil {
		version.Max = tls.TLSVersion.Max
	}
	return &meshtls.Conf{TLSVersion: &version, TLSCiphers: tls.TLSCiphers, Mode: tls.Mode}
}

// firstRulesWin returns routes in which the rules with equal matches are at the place of the
// first of them, in the reverse order. So a merge in which later rules win takes its fields.
func firstRulesWin(conf *meshhttproute.Conf) *meshhttproute.Conf {
	next := *conf
	next.Rules = slices.Clone(conf.Rules[:0]) // an empty list is not an absent one
	for i, rule := range conf.Rules {
		equal := []meshhttproute.Rule{}
		first := true
		for j, other := range conf.Rules {
			if slices.Equal(printed(other.Matches), printed(rule.Matches)) {
				first = first && j >= i
				equal = append([]meshhttproute.Rule{other}, equal...)
			}
		}
		if first {
			next.Rules = append(next.Rules, equal...)
		}
	}
	return &next
}

// printed returns the matches of a rule as texts.
func printed(matches []meshhttproute.Match) []string {
	texts := make([]string, len(matches))
	for i, m := range matches {
		texts[i] = fmt.Sprint(toJSON(m))
	}
	return texts
}

// withoutIgnored returns a conf without the fields that Kuma 3 ignores: the panic threshold
// of health checks, the hash policies of a load balancer, and the endpoints of collectors.
func withoutIgnored(conf any) any {
	switch c := conf.(type) {
	case *meshhealthcheck.Conf:
		next := *c
		next.HealthyPanicThreshold = nil
		return &next
	case *meshloadbalancingstrategy.Conf:
		if c.LoadBalancer == nil {
			return c
		}
		next, balancer := *c, *c.LoadBalancer
		if balancer.RingHash != nil {
			ring := *balancer.RingHash
			ring.HashPolicies = nil
			balancer.RingHash = &ring
		}
		if balancer.Maglev != nil {
			maglev := *balancer.Maglev
			maglev.HashPolicies = nil
			balancer.Maglev = &maglev
		}
		next.LoadBalancer = &balancer
		return &next
	case *meshtrace.Conf:
		next := *c
		next.Backends = slices.Clone(c.Backends)
		for i, b := range next.Backends {
			if b.OpenTelemetry != nil {
				collector := *b.OpenTelemetry
				collector.Endpoint = nil
				next.Backends[i].OpenTelemetry = &collector
			}
		}
		return &next
	case *meshaccesslog.Conf:
		next := *c
		next.Backends = slices.Clone(c.Backends)
		for i, b := range next.Backends {
			if b.OpenTelemetry != nil {
				collector := *b.OpenTelemetry
				collector.Endpoint = nil
				next.Backends[i].OpenTelemetry = &collector
			}
		}
		return &next
	case *meshmetric.Conf:
		next := *c
		next.Backends = slices.Clone(c.Backends)
		for i, b := range next.Backends {
			if b.OpenTelemetry != nil {
				collector := *b.OpenTelemetry
				collector.Endpoint = nil
				next.Backends[i].OpenTelemetry = &collector
			}
		}
		return &next
	}
	return conf
}

// isDefault reports whether a leaf of a conf with defaults is not in the conf itself.
func (m *mesh) isDefault(conf any, pointer string) bool {
	if _, is := conf.(*meshtls.Conf); !is || !m.kumaLike() {
		return false
	}
	at := toJSON(conf)
	for _, field := range strings.Split(pointer, "/")[1:] {
		object, _ := at.(map[string]any)
		if at = object[field]; at == nil {
			return !strings.HasPrefix(pointer, "/tlsCiphers")
		}
	}
	return false
}
