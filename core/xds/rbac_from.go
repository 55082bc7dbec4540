package xds

import (
	"regexp"

	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A certificate that carries tags has a URI SAN kuma://key/value for each of
// them, beside the SPIFFE ID.
const tagURI = "kuma://"

// clientMatcher returns the matcher of one decision about clients by their
// tags: items from the highest priority down, the first that selects the client
// decides (SPEC 5.1).
func clientMatcher(items []permission.Client, v view) *xdsmatcher.Matcher {
	p := &predicates{}
	var list []*xdsmatcher.Matcher_MatcherList_FieldMatcher
	last := onMatch(defaultPolicy, true)
	for i := range items {
		action := onMatch(items[i].KRI, !v.allows(items[i].Action))
		if len(items[i].Tags) == 0 { // everyone; nothing below decides
			last = action
			break
		}
		var tags []predicate
		for _, tag := range items[i].Tags {
			tags = append(tags, p.clientURI(text{textRegex, amongURIs(tag)}))
		}
		list = append(list, &xdsmatcher.Matcher_MatcherList_FieldMatcher{Predicate: allOf(p, tags), OnMatch: action})
	}
	return chain([]stage{{list: list}}, last)
}

// amongURIs is an expression for the URI SANs that a matcher sees: all of them,
// joined by commas. Tags have no commas.
func amongURIs(tag resource.Tag) string {
	return `(?:\C*,)?` + uriRegex(tag) + `(?:,\C*)?`
}

// uriRegex is an expression for the URI SAN of a tag. Keys may have slashes and
// values have none, so whatever value a key has ends where the URI does:
// kuma://team/lead/a is no value of team.
func uriRegex(tag resource.Tag) string {
	key := regexp.QuoteMeta(tagURI + tag.Key + "/")
	if tag.Value == resource.AnyValue {
		return key + `[^/,]+`
	}
	return key + regexp.QuoteMeta(tag.Value)
}

// clientRules returns the rules form of the same decision. The principals of
// the policies are an OR, so an item that allows must exclude everyone whom an
// item above it denies; without that "Mesh Allow; a Deny; b Deny" would become
// "not a, or not b", which is everyone (SPEC 5.7). Items between two denials
// exclude the same and do so together.
func clientRules(items []permission.Client, v view) *rbacconfig.RBAC {
	out := &rbacconfig.RBAC{Action: rbacconfig.RBAC_ALLOW, Policies: map[string]*rbacconfig.Policy{}}
	var allowed allowedBy // not yet in a policy
	var denied []*rbacconfig.Principal
	flush := func() {
		if len(allowed.principals) == 0 {
			return
		}
		policy := out.Policies[allowed.kri]
		if policy == nil {
			policy = &rbacconfig.Policy{Permissions: []*rbacconfig.Permission{anyPermission()}}
			out.Policies[allowed.kri] = policy
		}
		policy.Principals = append(policy.Principals, excluding(allowed.principals, denied)...)
		allowed = allowedBy{}
	}
	for i := range items {
		item := &items[i]
		allow, everyone := v.allows(item.Action), len(item.Tags) == 0
		if !allow || allowed.kri != item.KRI {
			flush()
		}
		switch {
		case allow:
			allowed.kri = item.KRI
			allowed.principals = append(allowed.principals, tagsPrincipal(item.Tags))
		case !everyone:
			denied = append(denied, tagsPrincipal(item.Tags))
		}
		if everyone {
			break // nothing below decides
		}
	}
	flush()
	return out
}

func tagsPrincipal(tags resource.Tags) *rbacconfig.Principal {
	if len(tags) == 0 {
		return anyPrincipal()
	}
	var p principals
	var out []*rbacconfig.Principal
	for _, tag := range tags {
		t := text{textExact, tagURI + tag.Key + "/" + tag.Value}
		if tag.Value == resource.AnyValue {
			t = text{textRegex, uriRegex(tag)}
		}
		out = append(out, p.clientURI(t))
	}
	return allOf(p, out)
}
