package translators

import (
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/xds"
)

// routeMatch returns the conditions of a choice as conditions of a route. Conditions on the
// client are about the filter state of [xds.Chain.RecordConnection].
func (c *choice) routeMatch() *routev3.RouteMatch {
	m := prefixMatch("/")
	for _, tag := range c.Tags {
		m.FilterState = append(m.FilterState, peerMatches(rbac.TagExpression(tag)))
	}
	if c.Match == nil {
		return m
	}
	if c.Match.SpiffeID != nil {
		m.FilterState = append(m.FilterState, peerMatches(rbac.SpiffeIDExpression(c.Match.SpiffeID)))
	}
	if c.Match.SNI != nil {
		m.FilterState = append(m.FilterState, stateMatches(xds.ServerNameKey, exactly(strings.ToLower(string(*c.Match.SNI)))))
	}
	if c.Match.Path != nil {
		setPath(m, c.Match.Path)
	}
	if c.Match.Method != nil {
		m.Headers = append(m.Headers, methodMatcher(string(*c.Match.Method)))
	}
	for i := range c.Match.Headers {
		m.Headers = append(m.Headers, headerMatcher(&c.Match.Headers[i]))
	}
	return m
}

func setPath(m *routev3.RouteMatch, path *conf.PathMatch) {
	prefix := request.TrimSlash(path.Value)
	switch {
	case path.Type == conf.PathExact:
		m.PathSpecifier = &routev3.RouteMatch_Path{Path: path.Value}
	case path.Type == conf.PathRegex:
		m.PathSpecifier = &routev3.RouteMatch_SafeRegex{SafeRegex: regexMatcher(path.Value)}
	case prefix != "":
		m.PathSpecifier = &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: prefix}
	}
}

// peerMatches returns the condition that an expression matches the URI SANs of the
// client, joined by commas.
func peerMatches(expression string) *matcherv3.FilterStateMatcher {
	return stateMatches(rbac.PeerKey, &matcherv3.StringMatcher{
		MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: message.Regex(expression)},
	})
}

func stateMatches(key string, value *matcherv3.StringMatcher) *matcherv3.FilterStateMatcher {
	return &matcherv3.FilterStateMatcher{
		Key: key, Matcher: &matcherv3.FilterStateMatcher_StringMatch{StringMatch: value},
	}
}
