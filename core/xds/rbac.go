package xds

import (
	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	httprbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	networkrbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"

	"github.com/meshmatch/meshmatch/core/permission"
)

// RBACForm is how a filter says who is let in.
type RBACForm uint8

const (
	// MatcherForm is a matcher tree whose actions are named by policies.
	MatcherForm RBACForm = iota
	// RulesForm is policies of principals. gRPC reads nothing else: a filter
	// with only a matcher lets everyone in there.
	RulesForm
)

// The names of Envoy's filters.
const (
	HTTPRBACFilter    = "envoy.filters.http.rbac"
	NetworkRBACFilter = "envoy.filters.network.rbac"
)

// RBAC returns the filter of an inbound: an HTTP filter on HTTP inbounds, a
// network filter on TCP ones. The network filter counts under statPrefix,
// which must not be empty and ends in a dot; the HTTP filter counts under its
// connection manager.
func RBAC(p *permission.Permissions, form RBACForm, statPrefix string) Filter {
	f := &rbacFilter{}
	f.fill(p, form)
	if p.Protocol == permission.HTTP {
		return Filter{HTTPRBACFilter, &httprbac.RBAC{
			Matcher: f.matcher, ShadowMatcher: f.shadowMatcher, Rules: f.rules, ShadowRules: f.shadowRules,
		}}
	}
	return Filter{NetworkRBACFilter, &networkrbac.RBAC{
		Matcher: f.matcher, ShadowMatcher: f.shadowMatcher, Rules: f.rules, ShadowRules: f.shadowRules, StatPrefix: statPrefix,
	}}
}

// rbacFilter is what both filters have in common.
type rbacFilter struct {
	matcher, shadowMatcher *xdsmatcher.Matcher
	rules, shadowRules     *rbacconfig.RBAC
}

func (f *rbacFilter) fill(p *permission.Permissions, form RBACForm) {
	switch {
	case p.Clients != nil && form == RulesForm:
		f.rules = clientRules(p.Clients.Items(), enforced)
		if p.Clients.HasShadow() {
			f.shadowRules = clientRules(p.Clients.Items(), shadow)
		}
	case p.Clients != nil:
		f.matcher = clientMatcher(p.Clients.Items(), enforced)
		if p.Clients.HasShadow() {
			f.shadowMatcher = clientMatcher(p.Clients.Items(), shadow)
		}
	case p.Rules != nil && form == RulesForm:
		f.rules = entryRules(p.Rules.Entries(), enforced)
		if p.Rules.HasShadow() {
			f.shadowRules = entryRules(p.Rules.Entries(), shadow)
		}
	case p.Rules != nil:
		f.matcher = entryMatcher(p.Rules.Entries(), enforced)
		if p.Rules.HasShadow() {
			f.shadowMatcher = entryMatcher(p.Rules.Entries(), shadow)
		}
	case form == RulesForm:
		f.rules = entryRules(nil, enforced)
	default:
		f.matcher = entryMatcher(nil, enforced)
	}
}
