package translators

import (
	"fmt"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// httpRule is a rule of a MeshHTTPRoute.
type httpRule struct {
	*xds.Routes
	effective *results.Effective
	pointer   string           // of the rule
	policy    *resource.Policy // the one of highest priority that set a part of the rule
	conf      *meshhttproute.RuleConf

	done *routev3.Route
	// prefix replaces the prefix that a request was matched by; nil if it stays.
	prefix *string
}

// String returns the rule for messages.
func (r *httpRule) String() string { return fmt.Sprintf("%s of %s", r.pointer, r.policy.KRI()) }

// warn reports a field of filter i of the rule, or the whole filter.
func (r *httpRule) warn(i int, field, format string, args ...any) {
	r.Warn(diag.NoEffectHere, r.effective, fmt.Sprintf("%s/default/filters/%d%s", r.pointer, i, field), format, args...)
}

// message returns the route of the rule without its match. It is made once, and its
// warnings with it.
func (r *httpRule) message() *routev3.Route {
	if r.done != nil {
		return r.done
	}
	r.done = r.NewRoute().Message
	r.done.Name = r.policy.KRI()
	redirect := r.first(meshhttproute.RequestRedirectType)
	if redirect != nil {
		r.done.Action = &routev3.Route_Redirect{Redirect: r.redirect(redirect.RequestRedirect)}
	}
	backends := r.pointer + "/default/backendRefs"
	switch {
	case len(r.conf.BackendRefs) == 0:
	case redirect != nil:
		r.Warn(diag.NoEffectHere, r.effective, backends, "a request that is redirected is sent to no backend")
	default:
		setBackends(r.done, backendsOf(r, r.effective, backends, r.conf.BackendRefs), r.Client)
	}
	for i := range r.conf.Filters {
		r.filter(i, &r.conf.Filters[i])
	}
	return r.done
}

// first returns the first filter of a type; nil if there is none.
func (r *httpRule) first(of meshhttproute.FilterType) *meshhttproute.Filter {
	for i := range r.conf.Filters {
		if r.conf.Filters[i].Type == of {
			return &r.conf.Filters[i]
		}
	}
	return nil
}

// setBackends makes a route distribute requests to backends. Without any the answer
// is 503. A request to an external service has the host name of the endpoint (SPEC
// 17.4).
func setBackends(m *routev3.Route, backends []backend, client xds.ClientType) {
	if action := m.GetRoute(); client == xds.Envoy {
		action.HostRewriteSpecifier = nil
		if slices.ContainsFunc(backends, func(b backend) bool { return b.external }) {
			action.HostRewriteSpecifier = &routev3.RouteAction_AutoHostRewrite{AutoHostRewrite: wrapperspb.Bool(true)}
		}
	}
	switch len(backends) {
	case 0:
		m.Action = &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: 503}}
	case 1:
		m.GetRoute().ClusterSpecifier = &routev3.RouteAction_Cluster{Cluster: backends[0].cluster}
	default:
		weighted := &routev3.WeightedCluster{}
		for _, b := range backends {
			weighted.Clusters = append(weighted.Clusters, &routev3.WeightedCluster_ClusterWeight{
				Name: b.cluster, Weight: wrapperspb.UInt32(b.weight),
			})
		}
		m.GetRoute().ClusterSpecifier = &routev3.RouteAction_WeightedClusters{WeightedClusters: weighted}
	}
}

// filter does filter i, unless it redirects.
func (r *httpRule) filter(i int, f *meshhttproute.Filter) {
	action := r.done.GetRoute()
	redirects, rewrites := f.Type == meshhttproute.RequestRedirectType, f.Type == meshhttproute.URLRewriteType
	switch {
	case (redirects || rewrites) && r.first(f.Type) != f:
		r.warn(i, "", "the first filter of type %s applies", f.Type)
	case redirects:
	case f.Type == meshhttproute.ResponseHeaderModifierType:
		r.modifyResponse(i, f.ResponseHeaderModifier)
	case action == nil:
		r.warn(i, "", "the proxy answers the request by itself")
	case f.Type == meshhttproute.RequestHeaderModifierType:
		r.modifyRequest(i, action, f.RequestHeaderModifier)
	case rewrites:
		r.rewrite(i, action, f.URLRewrite)
	case f.Type == meshhttproute.RequestMirrorType:
		r.mirror(i, action, f.RequestMirror)
	}
}

// modifyRequest changes the headers of requests. Envoy does not treat the host as a header;
// setting it rewrites the authority.
func (r *httpRule) modifyRequest(i int, action *routev3.RouteAction, m *meshhttproute.HeaderModifier) {
	set, add, remove := r.withoutHost(i, "/requestHeaderModifier", m, func(host string) {
		action.HostRewriteSpecifier = &routev3.RouteAction_HostRewriteLiteral{HostRewriteLiteral: host}
	})
	r.done.RequestHeadersToAdd = append(r.done.RequestHeadersToAdd, headerOptions(set, add)...)
	r.done.RequestHeadersToRemove = append(r.done.RequestHeadersToRemove, remove...)
}

func (r *httpRule) modifyResponse(i int, m *meshhttproute.HeaderModifier) {
	set, add, remove := r.withoutHost(i, "/responseHeaderModifier", m, nil)
	r.done.ResponseHeadersToAdd = append(r.done.ResponseHeadersToAdd, headerOptions(set, add)...)
	r.done.ResponseHeadersToRemove = append(r.done.ResponseHeadersToRemove, remove...)
}

// withoutHost returns the changes of a modifier except for changes of the host, which
// Envoy refuses. SetHost is what sets it, nil if nothing can.
func (r *httpRule) withoutHost(i int, field string, m *meshhttproute.HeaderModifier, setHost func(string)) (set, add []conf.HeaderKeyValue, remove []string) {
	isKept := func(list string, k int, name conf.HeaderName) bool {
		if name.IsHost() {
			r.warn(i, fmt.Sprintf("%s/%s/%d", field, list, k), "Envoy does not change this header")
		}
		return !name.IsHost()
	}
	for k, h := range m.Set {
		if h.Name.IsHost() && setHost != nil {
			setHost(h.Value)
		} else if isKept("set", k, h.Name) {
			set = append(set, h)
		}
	}
	for k, h := range m.Add {
		if isKept("add", k, h.Name) {
			add = append(add, h)
		}
	}
	for k, name := range m.Remove {
		if isKept("remove", k, name) {
			remove = append(remove, string(name))
		}
	}
	return set, add, remove
}

func (r *httpRule) mirror(i int, action *routev3.RouteAction, m *meshhttproute.RequestMirror) {
	cluster, _ := backendOf(r, r.effective, fmt.Sprintf("%s/default/filters/%d/requestMirror/backendRef", r.pointer, i), &m.BackendRef)
	if m.BackendRef.Weight != nil {
		r.warn(i, "/requestMirror/backendRef/weight", "a mirror has no weight; use percentage")
	}
	policy := &routev3.RouteAction_RequestMirrorPolicy{
		Cluster:                       cluster,
		DisableShadowHostSuffixAppend: true,
	}
	if m.Percentage != nil {
		policy.RuntimeFraction = &corev3.RuntimeFractionalPercent{DefaultValue: fraction(*m.Percentage)}
	}
	action.RequestMirrorPolicies = append(action.RequestMirrorPolicies, policy)
}

// rewrite changes the URL that the backend is asked for.
func (r *httpRule) rewrite(i int, action *routev3.RouteAction, u *meshhttproute.URLRewrite) {
	if u.Hostname != nil {
		action.HostRewriteSpecifier = &routev3.RouteAction_HostRewriteLiteral{HostRewriteLiteral: string(*u.Hostname)}
	} else if isTrue(u.HostToBackendHostname) {
		action.HostRewriteSpecifier = &routev3.RouteAction_AutoHostRewrite{AutoHostRewrite: wrapperspb.Bool(true)}
		if len(r.conf.BackendRefs) == 0 && !r.HostNames {
			r.warn(i, "/urlRewrite/hostToBackendHostname", "the endpoints have addresses and no host names")
		}
	}
	switch path := u.Path; {
	case path == nil:
	case path.Type == meshhttproute.ReplaceFullPath:
		action.RegexRewrite = wholePath(absolute(*path.ReplaceFullPath))
	default:
		r.prefix = path.ReplacePrefixMatch
	}
}

var redirectCodes = map[meshhttproute.RedirectStatus]routev3.RedirectAction_RedirectResponseCode{
	301: routev3.RedirectAction_MOVED_PERMANENTLY,
	302: routev3.RedirectAction_FOUND,
	303: routev3.RedirectAction_SEE_OTHER,
	307: routev3.RedirectAction_TEMPORARY_REDIRECT,
	308: routev3.RedirectAction_PERMANENT_REDIRECT,
}

func (r *httpRule) redirect(f *meshhttproute.RequestRedirect) *routev3.RedirectAction {
	action := &routev3.RedirectAction{
		ResponseCode: redirectCodes[valueOr(f.StatusCode, 302)],
		HostRedirect: string(valueOr(f.Hostname, "")),
		PortRedirect: uint32(valueOr(f.Port, 0)),
	}
	if f.Scheme != nil {
		action.SchemeRewriteSpecifier = &routev3.RedirectAction_SchemeRedirect{SchemeRedirect: string(*f.Scheme)}
	}
	switch path := f.Path; {
	case path == nil:
	case path.Type == meshhttproute.ReplaceFullPath:
		action.PathRewriteSpecifier = &routev3.RedirectAction_PathRedirect{PathRedirect: absolute(*path.ReplaceFullPath)}
	default:
		r.prefix = path.ReplacePrefixMatch
	}
	return action
}

// replacePrefix makes a route replace the prefix that it matches. A slash at the end
// of the replacement makes no difference.
func (r *httpRule) replacePrefix(m *routev3.Route) {
	if r.prefix == nil {
		return
	}
	replacement := strings.TrimRight(absolute(*r.prefix), "/")
	if m.Match.GetPrefix() != "" || replacement == "" { // a prefix ends in a slash
		replacement += "/"
	}
	switch action := m.Action.(type) {
	case *routev3.Route_Redirect:
		action.Redirect.PathRewriteSpecifier = &routev3.RedirectAction_PrefixRewrite{PrefixRewrite: replacement}
	case *routev3.Route_Route:
		action.Route.PrefixRewrite = replacement
	}
}

// wholePath replaces a path, without the query. All releases of Envoy have an expression for
// it, and not all have a path of its own (SPEC 18.3).
func wholePath(path string) *matcherv3.RegexMatchAndSubstitute {
	return &matcherv3.RegexMatchAndSubstitute{
		Pattern:      &matcherv3.RegexMatcher{Regex: `^/\C*`},
		Substitution: strings.ReplaceAll(path, `\`, `\\`),
	}
}

// absolute returns a path that begins with a slash.
func absolute(path string) string { return "/" + strings.TrimLeft(path, "/") }
