package xds

import (
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	envoymatcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
)

// principals is the vocabulary of the rules form. A principal can look at
// headers and paths too, so it can say a whole entry but for the SNI, which
// only permissions have; see rbac_server_name.go.
type principals struct{}

func (principals) clientURI(t text) *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_Authenticated_{
		Authenticated: &rbacconfig.Principal_Authenticated{PrincipalName: stringMatcher(t)},
	}}
}

func (principals) serverName(string) *rbacconfig.Principal {
	panic("xds: a principal has no server name; entries are split by it before")
}

func (p principals) path(m *conf.PathMatch) *rbacconfig.Principal {
	switch m.Type {
	case conf.PathRegex:
		return p.urlPath(regexText(m.Value))
	case conf.PathPrefix:
		prefix := permission.Segments(m.Value)
		if prefix == "" {
			return p.urlPath(text{textPrefix, "/"})
		}
		return p.any([]*rbacconfig.Principal{p.urlPath(text{textExact, prefix}), p.urlPath(text{textPrefix, prefix + "/"})})
	}
	return p.urlPath(text{textExact, m.Value})
}

// urlPath compares the path without the query.
func (principals) urlPath(t text) *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_UrlPath{
		UrlPath: &envoymatcher.PathMatcher{Rule: &envoymatcher.PathMatcher_Path{Path: stringMatcher(t)}},
	}}
}

func (p principals) header(name string, t text) *rbacconfig.Principal {
	if t.how == textAny {
		// gRPC takes a header without a value for none where it asks whether
		// one is present.
		present := &route.HeaderMatcher{Name: name, HeaderMatchSpecifier: &route.HeaderMatcher_PresentMatch{PresentMatch: true}}
		return p.any([]*rbacconfig.Principal{headerPrincipal(present), p.header(name, text{textExact, ""})})
	}
	return headerPrincipal(&route.HeaderMatcher{Name: name, HeaderMatchSpecifier: &route.HeaderMatcher_StringMatch{StringMatch: stringMatcher(t)}})
}

func headerPrincipal(m *route.HeaderMatcher) *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_Header{Header: m}}
}

func (principals) not(c *rbacconfig.Principal) *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_NotId{NotId: c}}
}

func (principals) all(cs []*rbacconfig.Principal) *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_AndIds{AndIds: &rbacconfig.Principal_Set{Ids: cs}}}
}

func (principals) any(cs []*rbacconfig.Principal) *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_OrIds{OrIds: &rbacconfig.Principal_Set{Ids: cs}}}
}

func anyPrincipal() *rbacconfig.Principal {
	return &rbacconfig.Principal{Identifier: &rbacconfig.Principal_Any{Any: true}}
}

func stringMatcher(t text) *envoymatcher.StringMatcher {
	switch t.how {
	case textPrefix:
		return &envoymatcher.StringMatcher{MatchPattern: &envoymatcher.StringMatcher_Prefix{Prefix: t.value}}
	case textRegex:
		return &envoymatcher.StringMatcher{MatchPattern: &envoymatcher.StringMatcher_SafeRegex{SafeRegex: &envoymatcher.RegexMatcher{Regex: t.value}}}
	}
	return &envoymatcher.StringMatcher{MatchPattern: &envoymatcher.StringMatcher_Exact{Exact: t.value}}
}
