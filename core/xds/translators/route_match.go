package translators

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/xds"
)

// routeMatch returns the conditions of a choice as conditions of a route. Conditions on the
// client are about what [xds.Chain.RecordConnection] shows.
func (c *choice) routeMatch(i *xds.Inbound) *routev3.RouteMatch {
	m := prefixMatch("/")
	for _, tag := range c.Tags {
		i.PeerMatch(m, rbac.TagExpression(tag))
	}
	if c.Match == nil {
		return m
	}
	if c.Match.SpiffeID != nil {
		i.PeerMatch(m, rbac.SpiffeIDExpression(c.Match.SpiffeID))
	}
	if c.Match.SNI != nil {
		i.ServerNameMatch(m, string(*c.Match.SNI))
	}
	if c.Match.Path != nil {
		setPath(m, c.Match.Path)
	}
	if c.Match.Method != nil {
		m.Headers = append(m.Headers, methodMatcher(string(*c.Match.Method)))
	}
	for h := range c.Match.Headers {
		m.Headers = append(m.Headers, headerMatcher(&c.Match.Headers[h]))
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
