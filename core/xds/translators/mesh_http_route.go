package translators

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshHTTPRoute translates MeshHTTPRoute: the routes of HTTP outbounds. They are in
// the precedence of the Gateway API; of two equal matches the one of the policy with
// the higher priority applies (SPEC 11.5). The other one is a warning, as is each
// match after one that accepts every request.
func meshHTTPRoute() xds.Translator {
	return xds.Translator{
		Kind:     "MeshHTTPRoute",
		Routes:   with(httpRoutes),
		Outbound: noHTTPRoutes,
		Refers:   refersToDestinations,
		Ignored:  []xds.IgnoredField{{Field: "/hostnames", Reason: "only a gateway chooses rules by the host of a request"}},

		IgnoredByGRPC: ignoredByGRPC("gRPC clients do not change calls, and fail those that are redirected", "/rules/*/default/filters"),
	}
}

// refersToDestinations reports whether a backend or a mirror of a conf may be a destination
// that is a resource.
func refersToDestinations(c resource.Conf) bool {
	return slices.ContainsFunc(c.(*meshhttproute.Conf).Rules, func(rule meshhttproute.Rule) bool {
		return referTo(rule.Default.BackendRefs) || slices.ContainsFunc(rule.Default.Filters, func(f meshhttproute.Filter) bool {
			return f.RequestMirror != nil && mayBeDestination(&f.RequestMirror.BackendRef)
		})
	})
}

func noHTTPRoutes(o *xds.Outbound, e *results.Effective) {
	if e != nil && o.TCP != nil {
		o.Warn(diag.NoEffectHere, e, "", "the connections of a TCP service have no requests to route")
	}
}

func httpRoutes(r *xds.Routes, e *results.Effective, conf *meshhttproute.Conf) {
	policies := rulePolicies(e, len(conf.Rules))
	var matches []ruleMatch
	for i := range conf.Rules {
		rule := &httpRule{
			Routes: r, effective: e, pointer: fmt.Sprintf("/rules/%d", i),
			policy: policies[i], conf: &conf.Rules[i].Default,
		}
		for j := range conf.Rules[i].Matches {
			matches = append(matches, ruleMatch{&conf.Rules[i].Matches[j], rule})
		}
	}
	slices.SortStableFunc(matches, ruleMatch.compare)

	own := r.List
	r.List = nil
	taken := map[string]*httpRule{}
	every := matchKey(&meshhttproute.Match{})
	for _, m := range matches {
		if reason := m.unseenByGRPC(); r.Client == xds.ProxylessGRPC && reason != "" {
			r.Warn(diag.NeverMatches, e, m.rule.pointer, "no call gets to a match: it %s", reason)
			continue
		}
		key := matchKey(m.Match)
		earlier := taken[key]
		if earlier == nil {
			earlier = taken[every]
		}
		if earlier != nil {
			r.Warn(diag.NeverMatches, e, m.rule.pointer, "no request gets to a match: %s is compared before it and accepts the same requests", earlier)
			continue
		}
		taken[key] = m.rule
		r.List = append(r.List, m.routes()...)
	}
	if taken[every] == nil {
		r.List = append(r.List, own...)
	}
}

// rulePolicies returns the policy of highest priority that set a part of each element of the
// list /rules.
func rulePolicies(e *results.Effective, n int) []*resource.Policy {
	policies := make([]*resource.Policy, n)
	for pointer, o := range e.Fields() {
		rest, ofRules := strings.CutPrefix(pointer, "/rules")
		if !ofRules {
			continue
		}
		if rest == "" { // the list was replaced whole
			for i := range policies {
				policies[i] = o.Policy
			}
			continue
		}
		number, _, _ := strings.Cut(rest[1:], "/")
		if i, err := strconv.Atoi(number); err == nil {
			policies[i] = o.Policy
		}
	}
	return policies
}
