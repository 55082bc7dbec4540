package translators

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/xds"
)

// ruleMatch is a match of a rule. Each is a route of its own.
type ruleMatch struct {
	*meshhttproute.Match
	rule *httpRule
}

// everyPath is the condition of a match without a path (SPEC 11.3), which is compared
// after all that have one.
var everyPath = meshhttproute.PathMatch{Type: meshhttproute.PathPrefix, Value: "/"}

func pathOf(m *meshhttproute.Match) *meshhttproute.PathMatch { return cmp.Or(m.Path, &everyPath) }

// compare orders matches as requests are compared with them: path Exact, Prefix with
// longer ones first, RegularExpression (in Kuma, longer ones first), none; with a method; with more headers; with more
// query parameters. Other matches keep the order of the rules, in which the highest priority is first.
func (m ruleMatch) compare(o ruleMatch) int {
	return cmp.Or(
		cmp.Compare(pathClass(m.Match), pathClass(o.Match)),
		cmp.Compare(o.pathLength(), m.pathLength()),
		cmp.Compare(flag(o.Method != nil), flag(m.Method != nil)),
		cmp.Compare(len(o.Headers), len(m.Headers)),
		cmp.Compare(len(o.QueryParams), len(m.QueryParams)),
	)
}

func pathClass(m *meshhttproute.Match) int {
	classes := []meshhttproute.PathMatchType{meshhttproute.Exact, meshhttproute.PathPrefix, meshhttproute.RegularExpression}
	if m.Path == nil {
		return len(classes)
	}
	return slices.Index(classes, m.Path.Type)
}

// pathLength returns the length of a path by which matches are ordered; 0 if it is not.
func (m ruleMatch) pathLength() int {
	if m.Path == nil || m.Path.Type != meshhttproute.PathPrefix && !(m.Path.Type == meshhttproute.RegularExpression && m.rule.LongerRegexFirst) {
		return 0
	}
	return len(m.Path.Value)
}

func flag(set bool) int {
	if set {
		return 1
	}
	return 0
}

// matchKey returns a text that is equal for matches with equal conditions.
func matchKey(m *meshhttproute.Match) string {
	path := pathOf(m)
	conditions := []string{fmt.Sprintf("path %s %q", path.Type, path.Value)}
	if m.Method != nil {
		conditions = append(conditions, "method "+string(*m.Method))
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		conditions = append(conditions, fmt.Sprintf("header %s %s %q", strings.ToLower(string(h.Name)), h.How(), valueOr(h.Value, "")))
	}
	for i := range m.QueryParams {
		q := &m.QueryParams[i]
		conditions = append(conditions, fmt.Sprintf("query %q %s %q", q.Name, q.Type, q.Value))
	}
	slices.Sort(conditions)
	return strings.Join(slices.Compact(conditions), "\n")
}

// routes returns the routes of a match: one, or two for a prefix, which is compared
// by segment. Envoy can compare by segment itself, gRPC cannot.
func (m ruleMatch) routes() []*xds.Route {
	switch path := pathOf(m.Match); {
	case path.Type == meshhttproute.Exact:
		return []*xds.Route{m.route(&routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: path.Value}})}
	case path.Type == meshhttproute.RegularExpression:
		return []*xds.Route{m.route(&routev3.RouteMatch{
			PathSpecifier: &routev3.RouteMatch_SafeRegex{SafeRegex: regexMatcher(path.Value)},
		})}
	case path.Value == "/":
		return []*xds.Route{m.route(prefixMatch("/"))}
	default:
		return []*xds.Route{
			m.route(&routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: path.Value}}),
			m.route(prefixMatch(path.Value + "/")),
		}
	}
}

func prefixMatch(prefix string) *routev3.RouteMatch {
	return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: prefix}}
}

// route returns a route for requests with a path and the other conditions.
func (m ruleMatch) route(path *routev3.RouteMatch) *xds.Route {
	route := m.rule.NewRoute()
	route.Policy = m.rule.policy
	route.Message = proto.CloneOf(m.rule.message())
	route.Message.Match = path
	if m.Method != nil && m.rule.Client != xds.ProxylessGRPC {
		path.Headers = append(path.Headers, methodMatcher(string(*m.Method)))
	}
	for i := range m.Headers {
		path.Headers = append(path.Headers, headerMatcher(&m.Headers[i]))
	}
	for i := range m.QueryParams {
		path.QueryParameters = append(path.QueryParameters, queryMatcher(&m.QueryParams[i]))
	}
	m.rule.replacePrefix(route.Message)
	return route
}

func queryMatcher(q *meshhttproute.QueryParamsMatch) *routev3.QueryParameterMatcher {
	match := message.Exactly(q.Value)
	if q.Type == meshhttproute.RegexQueryParam {
		match = expression(q.Value)
	}
	return &routev3.QueryParameterMatcher{
		Name:                         q.Name,
		QueryParameterMatchSpecifier: &routev3.QueryParameterMatcher_StringMatch{StringMatch: match},
	}
}
