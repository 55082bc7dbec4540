package rbac

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	xdscore "github.com/cncf/xds/go/xds/core/v3"
	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	route "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	networkinputs "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	sslinputs "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// interpreter evaluates a filter as Envoy's documentation describes, for one request of a
// client with a certificate. It does not use the permissions.
type interpreter struct {
	t    testing.TB
	grpc bool // evaluate as gRPC does: a header without a value is absent
	// Evaluate as releases without byte expressions do.
	characters bool
	uris       []string
	sni        string
	headers    map[string]string // with :method and :path on HTTP inbounds
}

// newInterpreter returns an interpreter for a client's request. The certificate carries
// the client's tags for from. An HTTP inbound normalizes the path before the filter.
func newInterpreter(t testing.TB, p *permission.Permissions, c *permissiontest.Call) *interpreter {
	in := &interpreter{t: t, sni: lowerASCII(c.SNI), headers: map[string]string{}, uris: c.Certificate(p.Clients != nil)}
	if p.Protocol == request.HTTP {
		path, _ := request.NormalizePath(c.Path)
		if _, query, ok := strings.Cut(c.Path, "?"); ok {
			path += "?" + query
		}
		in.headers[":method"], in.headers[":path"] = c.Method, path
		for _, h := range c.Request().Headers {
			if h.Name == "host" {
				h.Name = ":authority"
			}
			in.headers[h.Name] = h.Value
		}
	}
	return in
}

func lowerASCII(name string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}

// matcher returns the action of a matcher; nil if it has none. If a nested matcher has no
// action, the next element of the list is compared.
func (in *interpreter) matcher(m *xdsmatcher.Matcher) *rbacconfig.Action {
	switch {
	case m.GetMatcherList() != nil:
		for _, field := range m.GetMatcherList().GetMatchers() {
			if in.predicate(field.GetPredicate()) {
				if action := in.onMatch(field.GetOnMatch()); action != nil {
					return action
				}
			}
		}
	case m.GetMatcherTree() != nil:
		tree := m.GetMatcherTree()
		if value, present := in.input(tree.GetInput()); present {
			if on := tree.GetExactMatchMap().GetMap()[value]; on != nil {
				return in.onMatch(on)
			}
		}
	}
	return in.onMatch(m.GetOnNoMatch())
}

func (in *interpreter) onMatch(on *xdsmatcher.Matcher_OnMatch) *rbacconfig.Action {
	if m := on.GetMatcher(); m != nil {
		return in.matcher(m)
	}
	if on.GetAction() == nil {
		return nil
	}
	action := &rbacconfig.Action{}
	if err := on.GetAction().GetTypedConfig().UnmarshalTo(action); err != nil {
		in.t.Fatal(err)
	}
	return action
}

func (in *interpreter) predicate(p *xdsmatcher.Matcher_MatcherList_Predicate) bool {
	switch {
	case p.GetSinglePredicate() != nil:
		value, present := in.input(p.GetSinglePredicate().GetInput())
		return present && in.text(value, p.GetSinglePredicate().GetValueMatch())
	case p.GetOrMatcher() != nil:
		in.several(len(p.GetOrMatcher().GetPredicate()))
		for _, sub := range p.GetOrMatcher().GetPredicate() {
			if in.predicate(sub) {
				return true
			}
		}
		return false
	case p.GetAndMatcher() != nil:
		in.several(len(p.GetAndMatcher().GetPredicate()))
		for _, sub := range p.GetAndMatcher().GetPredicate() {
			if !in.predicate(sub) {
				return false
			}
		}
		return true
	case p.GetNotMatcher() != nil:
		return !in.predicate(p.GetNotMatcher())
	}
	in.t.Fatalf("unknown predicate %v", p)
	return false
}

// several checks a rule of Envoy's API that its generated validation lacks.
func (in *interpreter) several(n int) {
	if n < 2 {
		in.t.Fatal("and, or with less than two conditions")
	}
}

func (in *interpreter) input(config *xdscore.TypedExtensionConfig) (value string, present bool) {
	message, err := config.GetTypedConfig().UnmarshalNew()
	if err != nil {
		in.t.Fatal(err)
	}
	switch message := message.(type) {
	case *sslinputs.UriSanInput:
		return strings.Join(in.uris, ","), len(in.uris) > 0
	case *networkinputs.ServerNameInput:
		return in.sni, in.sni != ""
	case *envoymatcher.HttpRequestHeaderMatchInput:
		value, present = in.headers[message.GetHeaderName()]
		return value, present
	}
	in.t.Fatalf("unknown input %T", message)
	return "", false
}

// anyStringMatcher is what the string matchers of both APIs have in common.
type anyStringMatcher interface {
	GetExact() string
	GetPrefix() string
}

func (in *interpreter) text(value string, m anyStringMatcher) bool {
	regex := ""
	switch m := m.(type) {
	case *xdsmatcher.StringMatcher:
		regex = m.GetSafeRegex().GetRegex()
		if regex != "" && m.GetSafeRegex().GetGoogleRe2() == nil {
			in.t.Fatal("a regular expression without an engine")
		}
	case *envoymatcher.StringMatcher:
		regex = m.GetSafeRegex().GetRegex()
	}
	switch {
	case regex != "":
		return in.matches(regex, value)
	case m.GetPrefix() != "":
		return strings.HasPrefix(value, m.GetPrefix())
	}
	return value == m.GetExact()
}

// matches compares a whole text with an expression: byte by byte as Envoy does, by characters
// as older releases do, or with Go's expressions as gRPC does.
func (in *interpreter) matches(expression, value string) bool {
	switch {
	case in.characters:
		expression, value = byCharacters(in.t, expression, value)
	case !in.grpc:
		bytewise := func(text string) string {
			var b strings.Builder
			for i := range len(text) {
				b.WriteRune(rune(text[i]))
			}
			return b.String()
		}
		expression, value = strings.ReplaceAll(bytewise(expression), `\C`, `(?s:.)`), bytewise(value)
	}
	re, err := regexp.Compile(`\A(?:` + expression + `)\z`)
	if err != nil {
		in.t.Fatal(err)
	}
	return re.MatchString(value)
}

// rules reports whether one of the policies holds.
func (in *interpreter) rules(r *rbacconfig.RBAC) bool {
	for _, policy := range r.GetPolicies() {
		permitted, principal := false, false
		for _, p := range policy.GetPermissions() {
			permitted = permitted || in.permission(p)
		}
		for _, p := range policy.GetPrincipals() {
			principal = principal || in.principal(p)
		}
		if permitted && principal {
			return true
		}
	}
	return false
}

func (in *interpreter) permission(p *rbacconfig.Permission) bool {
	switch rule := p.GetRule().(type) {
	case *rbacconfig.Permission_Any:
		return rule.Any
	case *rbacconfig.Permission_RequestedServerName:
		return in.text(in.sni, rule.RequestedServerName)
	case *rbacconfig.Permission_NotRule:
		return !in.permission(rule.NotRule)
	case *rbacconfig.Permission_OrRules:
		for _, sub := range rule.OrRules.GetRules() {
			if in.permission(sub) {
				return true
			}
		}
		return false
	}
	in.t.Fatalf("unknown permission %v", p)
	return false
}

func (in *interpreter) principal(p *rbacconfig.Principal) bool {
	switch id := p.GetIdentifier().(type) {
	case *rbacconfig.Principal_Any:
		return id.Any
	case *rbacconfig.Principal_Authenticated_:
		for _, uri := range in.uris {
			if in.text(uri, id.Authenticated.GetPrincipalName()) {
				return true
			}
		}
		return false
	case *rbacconfig.Principal_Header:
		return in.header(id.Header)
	case *rbacconfig.Principal_UrlPath:
		path, present := in.headers[":path"]
		path, _, _ = strings.Cut(path, "?")
		return present && in.text(path, id.UrlPath.GetPath())
	case *rbacconfig.Principal_NotId:
		return !in.principal(id.NotId)
	case *rbacconfig.Principal_AndIds:
		for _, sub := range id.AndIds.GetIds() {
			if !in.principal(sub) {
				return false
			}
		}
		return true
	case *rbacconfig.Principal_OrIds:
		for _, sub := range id.OrIds.GetIds() {
			if in.principal(sub) {
				return true
			}
		}
		return false
	}
	in.t.Fatalf("unknown principal %v", p)
	return false
}

func (in *interpreter) header(m *route.HeaderMatcher) bool {
	value, present := in.headers[m.GetName()]
	switch match := m.GetHeaderMatchSpecifier().(type) {
	case *route.HeaderMatcher_PresentMatch:
		return (present && !(in.grpc && value == "")) == match.PresentMatch
	case *route.HeaderMatcher_StringMatch:
		return present && in.text(value, match.StringMatch)
	}
	in.t.Fatalf("unknown header match %v", m)
	return false
}

// verdict is the result of a filter: the decision with the name of the policy that decides,
// and the same for the shadow decision; "" if the filter has none.
type verdict struct{ enforced, shadow string }

func (in *interpreter) filter(f rbacConfig) (v verdict) {
	if f.GetMatcher() != nil {
		v.enforced = actionText(in.matcher(f.GetMatcher()))
	}
	if f.GetShadowMatcher() != nil {
		v.shadow = actionText(in.matcher(f.GetShadowMatcher()))
	}
	if f.GetRules() != nil {
		v.enforced = in.rulesText(f.GetRules(), rbacconfig.RBAC_ALLOW)
	}
	if f.GetShadowRules() != nil {
		v.shadow = in.rulesText(f.GetShadowRules(), rbacconfig.RBAC_DENY)
	}
	return v
}

func actionText(a *rbacconfig.Action) string {
	if a == nil {
		return "nothing"
	}
	return fmt.Sprintf("%s %s", a.GetAction(), a.GetName())
}

// rulesText omits the policy's name: the rules form has none for a denial, and its policies
// are compared in the order of their names.
func (in *interpreter) rulesText(r *rbacconfig.RBAC, action rbacconfig.RBAC_Action) string {
	if r.GetAction() != action {
		in.t.Fatalf("action %v", r.GetAction())
	}
	if in.rules(r) == (action == rbacconfig.RBAC_ALLOW) {
		return "ALLOW"
	}
	return "DENY"
}

// expected returns the verdict of a filter that decides as the answer does.
func expected(form Form, p *permission.Permissions, a permission.Answer) verdict {
	v := verdict{enforced: decided(form, a.Decision)}
	if !a.HasShadow {
		return v
	}
	v.shadow = decided(form, permissiontest.ShadowFilter(p, a))
	return v
}

func decided(form Form, d permission.Decision) string {
	switch {
	case form == RulesForm:
		return d.String()
	case d.By == nil:
		return d.String() + " default"
	}
	return d.String() + " " + d.By.KRI
}
