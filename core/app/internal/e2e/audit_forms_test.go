package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/permission"
)

// foreignForm is filters as another mesh writes them, and the rules of a permission that allow the
// same requests. The body has the filters, and for HTTP the virtual hosts if routes override them.
type foreignForm struct {
	name, rules, body string
	tcp               bool
}

const (
	httpRBAC = `"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC"`
	perRoute = `"@type": "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBACPerRoute"`
	netRBAC  = `"@type": "type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC"`
	uriInput = `"input": {"name": "uri", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput"}}`
	sniInput = `"input": {"name": "sni", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.matching.common_inputs.network.v3.ServerNameInput"}}`
	served   = `"direct_response": {"status": 200, "body": {"inline_string": "allowed"}}`
)

func headerInput(name string) string {
	return `"input": {"name": "header", "typed_config": {"@type": "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput", "header_name": "` + name + `"}}`
}

func onMatch(action, name string) string {
	return `{"action": {"name": "` + name + `", "typed_config": {"@type": "type.googleapis.com/envoy.config.rbac.v3.Action", "name": "` + name + `", "action": "` + action + `"}}}`
}

func single(input, match string) string {
	return `{"single_predicate": {` + input + `, "value_match": ` + match + `}}`
}

func foreignForms() []foreignForm {
	return []foreignForm{
		{name: "Istio: DENY before ALLOW, principals by filter state", rules: `
    deny: [{path: {type: Prefix, value: /admin}, method: POST}]
    allow:
      - spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/web"}
      - {spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/batch/sa/jobs"}, path: {type: Prefix, value: /api}}`,
			body: `{"filters": [
 {"name": "peer", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.set_filter_state.v3.Config",
   "on_request_headers": [{"object_key": "io.istio.peer_principal", "factory_key": "envoy.string", "format_string": {"text_format_source": {"inline_string": "%DOWNSTREAM_PEER_URI_SAN%"}}}]}},
 {"name": "deny", "typed_config": {` + httpRBAC + `, "rules": {"action": "DENY", "policies": {"ns[shop]-policy[deny]-rule[0]": {
   "permissions": [{"and_rules": {"rules": [
     {"or_rules": {"rules": [{"url_path": {"path": {"exact": "/admin"}}}, {"url_path": {"path": {"prefix": "/admin/"}}}]}},
     {"or_rules": {"rules": [{"header": {"name": ":method", "string_match": {"exact": "POST"}}}]}}]}}],
   "principals": [{"and_ids": {"ids": [{"any": true}]}}]}}}, "shadow_rules_stat_prefix": "istio_dry_run_allow_"}},
 {"name": "allow", "typed_config": {` + httpRBAC + `, "rules": {"policies": {
   "ns[shop]-policy[allow]-rule[0]": {"permissions": [{"and_rules": {"rules": [{"any": true}]}}],
     "principals": [{"and_ids": {"ids": [{"or_ids": {"ids": [
       {"filter_state": {"key": "io.istio.peer_principal", "string_match": {"exact": "spiffe://shop.mesh/ns/web"}}},
       {"filter_state": {"key": "io.istio.peer_principal", "string_match": {"safe_regex": {"regex": "spiffe://shop\\.mesh/ns/web/.*"}}}}]}}]}}]},
   "ns[shop]-policy[allow]-rule[1]": {"permissions": [{"and_rules": {"rules": [{"or_rules": {"rules": [
       {"url_path": {"path": {"exact": "/api"}}}, {"url_path": {"path": {"prefix": "/api/"}}}]}}]}}],
     "principals": [{"and_ids": {"ids": [{"filter_state": {"key": "io.istio.peer_principal", "string_match": {"exact": "spiffe://shop.mesh/ns/batch/sa/jobs"}}}]}}]}}}}}]}`},
		{name: "Istio: exclusions, a header and a rule in dry run", rules: `
    allow:
      - {spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/web"}, method: GET, headers: [{name: x-tier, value: gold}]}
      - {spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/web"}, path: {type: RegularExpression, value: "/api/.*"}}
    deny: [{spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/web/sa/legacy"}}]`,
			body: `{"filters": [
 {"name": "audit", "typed_config": {` + httpRBAC + `, "rules": {"action": "LOG", "policies": {"log": {"permissions": [{"url_path": {"path": {"prefix": "/api"}}}], "principals": [{"any": true}]}}}}},
 {"name": "allow", "typed_config": {` + httpRBAC + `, "rules": {"action": "ALLOW", "policies": {"p": {
   "permissions": [
     {"and_rules": {"rules": [{"not_rule": {"header": {"name": ":method", "string_match": {"exact": "GET"}, "invert_match": true}}}, {"header": {"name": "x-tier", "exact_match": "gold"}}]}},
     {"and_rules": {"rules": [{"url_path": {"path": {"safe_regex": {"regex": "/api/.*"}}}}, {"not_rule": {"or_rules": {"rules": [{"header": {"name": ":path", "present_match": false}}]}}}]}}],
   "principals": [{"and_ids": {"ids": [
     {"authenticated": {"principal_name": {"safe_regex": {"regex": "spiffe://shop\\.mesh/ns/web(/.*)?"}}}},
     {"not_id": {"or_ids": {"ids": [{"authenticated": {"principal_name": {"exact": "spiffe://shop.mesh/ns/web/sa/legacy"}}}]}}}]}}]}}},
   "shadow_rules": {"action": "DENY", "policies": {"all": {"permissions": [{"any": true}], "principals": [{"any": true}]}}}, "shadow_rules_stat_prefix": "dry_run_"}}]}`},
		{name: "Consul: intentions of layer 7", rules: `
    deny: [{spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/default/dc/dc1/svc/bad"}}]
    allow:
      - {spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/default/dc/dc1/svc"}, path: {type: Exact, value: /v1}, method: GET}
      - {spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/default/dc/dc1/svc"}, path: {type: Exact, value: /v1}, method: PUT}
      - {spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/default/dc/dc1/svc/web"}, headers: [{name: x-tier, type: Prefix, value: go}]}`,
			body: `{"filters": [
 {"name": "rbac", "typed_config": {` + httpRBAC + `, "rules": {"action": "ALLOW", "policies": {
   "consul-intentions-layer7-0": {
     "permissions": [{"and_rules": {"rules": [{"url_path": {"path": {"exact": "/v1"}}}, {"header": {"name": ":method", "string_match": {"safe_regex": {"regex": "GET|PUT"}}}}]}}],
     "principals": [{"and_ids": {"ids": [
       {"or_ids": {"ids": [{"authenticated": {"principal_name": {"exact": "spiffe://shop.mesh/ns/default/dc/dc1/svc"}}}, {"authenticated": {"principal_name": {"safe_regex": {"regex": "^spiffe://shop\\.mesh/ns/default/dc/dc1/svc/.*$"}}}}]}},
       {"not_id": {"authenticated": {"principal_name": {"safe_regex": {"regex": "^spiffe://shop\\.mesh/ns/default/dc/dc1/svc/bad$"}}}}}]}}]},
   "consul-intentions-layer7-1": {
     "permissions": [{"header": {"name": "x-tier", "prefix_match": "go"}}],
     "principals": [{"authenticated": {"principal_name": {"safe_regex": {"regex": "^spiffe://shop\\.mesh/ns/default/dc/dc1/svc/web$"}}}}]}}}}}]}`},
		{name: "Consul: intentions of layer 4", tcp: true, rules: `
    deny: [{spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/default/dc/dc1/svc/bad"}}]
    allow:
      - {spiffeId: {type: Prefix, value: "spiffe://shop.mesh/ns/default/dc/dc1/svc"}}
      - {spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/batch/sa/jobs"}, sni: b.shop.mesh}`,
			body: `{"filters": [
 {"name": "deny", "typed_config": {` + netRBAC + `, "stat_prefix": "connect_authz", "rules": {"action": "DENY", "policies": {"consul-intentions-layer4": {
   "permissions": [{"any": true}], "principals": [{"authenticated": {"principal_name": {"safe_regex": {"regex": "^spiffe://shop\\.mesh/ns/default/dc/dc1/svc/bad$"}}}}]}}}}},
 {"name": "allow", "typed_config": {` + netRBAC + `, "stat_prefix": "connect_authz", "rules": {"action": "ALLOW", "policies": {
   "consul-intentions-layer4": {"permissions": [{"any": true}], "principals": [
     {"authenticated": {"principal_name": {"exact": "spiffe://shop.mesh/ns/default/dc/dc1/svc"}}}, {"authenticated": {"principal_name": {"prefix": "spiffe://shop.mesh/ns/default/dc/dc1/svc/"}}}]},
   "jobs": {"permissions": [{"requested_server_name": {"exact": "b.shop.mesh"}}], "principals": [{"authenticated": {"principal_name": {"exact": "spiffe://shop.mesh/ns/batch/sa/jobs"}}}]}}}}}]}`},
		{name: "Envoy Gateway: a matcher of a route", rules: `
    allow:
      - {path: {type: Prefix, value: /api}, method: GET, headers: [{name: x-tier, value: gold}]}
      - {path: {type: Prefix, value: /api}, spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/web/sa/web"}}
      - {path: {type: Exact, value: /healthz}}`,
			body: `{"filters": [{"name": "envoy.filters.http.rbac", "typed_config": {` + httpRBAC + `}}],
 "virtual_hosts": [{"name": "all", "domains": ["*"],
   "typed_per_filter_config": {"envoy.filters.http.rbac": {` + perRoute + `, "rbac": {"rules": {}}}},
   "routes": [
     {"name": "api", "match": {"path_separated_prefix": "/api"}, ` + served + `, "typed_per_filter_config": {"envoy.filters.http.rbac": {` + perRoute + `, "rbac": {"matcher": {
       "matcher_list": {"matchers": [
         {"predicate": {"and_matcher": {"predicate": [` + single(headerInput("x-tier"), `{"exact": "gold"}`) + `, ` + single(headerInput(":method"), `{"exact": "GET"}`) + `]}}, "on_match": ` + onMatch("ALLOW", "gold") + `},
         {"predicate": ` + single(uriInput, `{"exact": "spiffe://shop.mesh/ns/web/sa/web"}`) + `, "on_match": ` + onMatch("ALLOW", "web") + `}]},
       "on_no_match": ` + onMatch("DENY", "default") + `}}}}},
     {"name": "health", "match": {"path": "/healthz"}, ` + served + `, "typed_per_filter_config": {"envoy.filters.http.rbac": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "disabled": true}}},
     {"name": "other", "match": {"prefix": "/"}, ` + served + `}]}]}`},
		{name: "Envoy Gateway: by domains", rules: `
    allow:
      - {headers: [{name: host, type: Prefix, value: open.example}]}
      - {spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/web/sa/web"}}`,
			body: `{"filters": [{"name": "authz", "typed_config": {` + httpRBAC + `, "rules": {"policies": {"web": {
     "permissions": [{"any": true}], "principals": [{"authenticated": {"principal_name": {"exact": "spiffe://shop.mesh/ns/web/sa/web"}}}]}}}}}],
 "virtual_hosts": [
   {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, ` + served + `}]},
   {"name": "open", "domains": ["open.example", "open.example*"], "routes": [{"match": {"prefix": "/"}, ` + served + `}], "typed_per_filter_config": {"authz": {` + perRoute + `}}}]}`},
		{name: "nested matchers and a map", rules: `
    deny: [{path: {type: Prefix, value: /admin}}]
    allow:
      - {spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/web/sa/web"}, method: GET}
      - {spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/web/sa/web"}, sni: api.shop.mesh}
      - {spiffeId: {type: Exact, value: "spiffe://shop.mesh/ns/batch/sa/jobs"}, headers: [{name: x-tier, type: Present}]}`,
			body: `{"filters": [{"name": "rbac", "typed_config": {` + httpRBAC + `, "matcher": {
   "matcher_list": {"matchers": [
     {"predicate": ` + single(headerInput(":path"), `{"safe_regex": {"google_re2": {}, "regex": "/admin([/?].*)?"}}`) + `, "on_match": ` + onMatch("DENY", "admin") + `},
     {"predicate": {"not_matcher": ` + single(headerInput(":path"), `{"safe_regex": {"google_re2": {}, "regex": "/admin([/?].*)?"}}`) + `}, "on_match": {"matcher": {
       "matcher_tree": {` + uriInput + `, "exact_match_map": {"map": {
         "spiffe://shop.mesh/ns/web/sa/web": {"matcher": {
           "matcher_list": {"matchers": [{"predicate": {"or_matcher": {"predicate": [` + single(headerInput(":method"), `{"exact": "GET"}`) + `, ` + single(sniInput, `{"exact": "api.shop.mesh"}`) + `]}}, "on_match": ` + onMatch("ALLOW", "web") + `}]},
           "on_no_match": ` + onMatch("DENY", "not-web") + `}},
         "spiffe://shop.mesh/ns/batch/sa/jobs": {"matcher": {
           "matcher_list": {"matchers": [{"predicate": ` + single(headerInput("x-tier"), `{"safe_regex": {"google_re2": {}, "regex": ".*"}}`) + `, "on_match": ` + onMatch("ALLOW", "jobs") + `}]},
           "on_no_match": ` + onMatch("DENY", "not-jobs") + `}}}}},
       "on_no_match": ` + onMatch("DENY", "others") + `}}}]},
   "on_no_match": ` + onMatch("DENY", "default") + `}}}]}`},
	}
}

// foreignTrial is a listener with a form, or with a form that has one fault.
type foreignTrial struct {
	name, title string
	form        *foreignForm
	permissions *permission.Permissions
	body        object
	isBase      bool
	clients     []*permissiontest.Call
}

// The foreign forms have this many faults that a request shows.
const foreignFaults = 150

// An audit finds nothing in hand-written filters in the forms of other meshes that allow what the
// policies allow, and in each with a fault a request. A real Envoy decides each witness, and random
// requests, as the audit says.
func TestAuditOfForeignForms(t *testing.T) {
	envoytest.Path(t)
	forms := foreignForms()
	trials := foreignTrials(t, forms)
	ca := envoytest.NewAuthority(t)
	var listeners []object
	for i := range trials {
		trials[i].name = fmt.Sprintf("l%d", i)
		listeners = append(listeners, trials[i].listener(t, ca))
	}
	e := startEnvoy(t, listeners)
	chains, proxies := dumpedChains(t, e), dumpedProxies(t, e)
	found, unknown, probes, written := make([]bool, len(trials)), make([]int, len(trials)), make([]int, len(trials)), make([]int, len(trials))
	each(len(trials), func(i int) {
		m := &trials[i]
		filters := rbac.New(chains[m.name], rbac.Connection{TLS: true, NoTags: true})
		space := &access.Space{Protocol: m.permissions.Protocol, NoTags: true, Queries: true}
		differences, err := access.CompareChain(space, access.ListOf(m.permissions), filters.Chain, access.Limits{})
		if err != nil {
			t.Errorf("%s: %v", m.title, err)
			return
		}
		found[i] = len(differences) > 0
		if m.isBase && found[i] {
			t.Errorf("%s: the audit finds %+v, unknown %q", m.title, *differences[0].Witness, differences[0].Unknown)
		}
		ask := func(c *permissiontest.Call, n int) bool {
			got, err := send(e.ports[m.name], ca.Issue(t, c.URIs...), transportOf(m.permissions.Protocol, c, n), c)
			if err != nil || got.refused {
				t.Errorf("%s: %+v: refused %v, %v", m.title, c, got.refused, err)
			}
			return got.allowed
		}
		for n, d := range differences {
			c := clientOf(d.Witness)
			if len(d.Unknown) > 0 {
				t.Errorf("%s: %+v is unknown: %q", m.title, c, d.Unknown)
			} else if allowed := ask(c, n); allowed != d.After.Allow || allowed == m.permissions.Decide(c.Request()).Decision.Allow {
				t.Errorf("%s: %+v: allowed %v; the audit says %v, the policies %v", m.title, c, allowed, d.After.Allow, d.Before.Allow)
			}
		}
		for n, c := range m.clients {
			outcomes, err := access.Outcomes(space, filters.Chain, c.Request(), access.Parts{}, access.Limits{})
			if err != nil {
				t.Errorf("%s: %v", m.title, err)
				continue
			}
			allowed := ask(c, n)
			if slices.ContainsFunc(outcomes, func(o access.ChainDecision) bool { return o.Allow != outcomes[0].Allow }) {
				unknown[i]++
			} else if allowed != outcomes[0].Allow {
				t.Errorf("%s: %+v: allowed %v; the audit decides %v", m.title, c, allowed, outcomes[0].Allow)
			}
			if probes[i]++; !found[i] && allowed != m.permissions.Decide(c.Request()).Decision.Allow {
				t.Errorf("%s: %+v: allowed %v; the policies decide otherwise and the audit finds nothing", m.title, c, allowed)
			}
			if n%4 > 0 { // conditions take longer
				continue
			}
			if when, ok := whenOf(t, proxies, m.name, c); ok {
				if written[i]++; slices.ContainsFunc(when.Any, func(k audit.Clause) bool { return meetsClause(&k, c) }) != allowed {
					t.Errorf("%s: %+v: allowed %v; the condition of the cell is %s", m.title, c, allowed, when)
				}
			}
		}
	})
	count, faults, uncertain, asked, conditions := 0, 0, 0, 0, 0
	for i := range trials {
		uncertain, asked, conditions = uncertain+unknown[i], asked+probes[i], conditions+written[i]
		switch {
		case trials[i].isBase:
		case found[i]:
			count++
			faults++
		default:
			faults++
			t.Logf("no request shows the fault: %s", trials[i].title)
		}
	}
	if t.Logf("%d of %d filters with a fault are found; %d of %d random requests are unknown, and %d have a condition", count, faults, uncertain, asked, conditions); count < foreignFaults || uncertain > 0 || 4*conditions < asked*9/10 {
		t.Errorf("%d faults are found, want at least %d; %d requests are unknown; %d have a condition", count, foreignFaults, uncertain, conditions)
	}
}

// whenOf returns the condition by which a listener allows the client of a request; ok is false if it
// is not written.
func whenOf(t *testing.T, proxies []*dump.Proxy, listener string, c *permissiontest.Call) (when *audit.When, ok bool) {
	q := audit.AloneQuery{To: listener, From: audit.OtherClients}
	if len(c.URIs) > 0 {
		q.From = c.URIs[0]
	}
	a, err := audit.NewAlone(proxies, q)
	if err != nil {
		t.Error(err)
		return nil, false
	}
	cell := &a.Proxies[0].Cells[0]
	switch cell.Access {
	case "all":
		return &audit.When{Any: []audit.Clause{{}}}, true
	case "none":
		return &audit.When{}, true
	}
	return cell.When, cell.When != nil
}

func meetsClause(k *audit.Clause, c *permissiontest.Call) bool {
	return meetsMatch(&k.Match, c) && !slices.ContainsFunc(k.Except, func(m audit.Match) bool { return meetsMatch(&m, c) })
}

// meetsMatch reports whether a request meets a match of a condition.
func meetsMatch(m *audit.Match, c *permissiontest.Call) bool {
	path, _, _ := strings.Cut(c.Path, "?")
	for _, part := range []struct {
		text  *audit.Text
		value string
	}{{m.SpiffeID, strings.Join(c.URIs, "")}, {m.SNI, c.SNI}, {m.Method, c.Method}, {m.Path, path}} {
		if part.text != nil && !meetsText(part.text, part.value, part.value != "") {
			return false
		}
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		value, present := c.Path, true
		if h.Name != ":path" {
			value, present = c.Request().Headers.Get(h.Name)
		}
		if !meetsText(&h.Text, value, present) {
			return false
		}
	}
	return len(m.Tags) == 0
}

func meetsText(text *audit.Text, value string, present bool) bool {
	switch text.Type {
	case rbac.Exact:
		return present && value == text.Value
	case rbac.StringPrefix:
		return present && strings.HasPrefix(value, text.Value)
	case rbac.Suffix:
		return present && strings.HasSuffix(value, text.Value)
	case rbac.Contains:
		return present && strings.Contains(value, text.Value)
	case rbac.RegularExpression:
		return present && regexp.MustCompile(`\A(?:`+text.Value+`)\z`).MatchString(value)
	}
	return present && text.Type == rbac.Present
}

func foreignTrials(t *testing.T, forms []foreignForm) []foreignTrial {
	var out []foreignTrial
	r := rand.New(rand.NewPCG(46, 19))
	for i := range forms {
		f := &forms[i]
		permissions, err := permissiontest.Permissions(resourcetest.Decode(t, auditedInbounds+"  rules:\n  - default:"+strings.ReplaceAll(f.rules, "\n", "\n  ")+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		inbound := "http"
		if f.tcp {
			inbound = "tcp"
		}
		for n := -1; ; n++ {
			var body object
			if err := json.Unmarshal([]byte(f.body), &body); err != nil {
				t.Fatalf("%s: %v", f.name, err)
			}
			trial := foreignTrial{title: f.name, form: f, permissions: permissions[inbound], body: body, isBase: n < 0}
			if !trial.isBase {
				fault, ok := mutateForeign(body, n)
				if !ok {
					break
				}
				trial.title += ": " + fault
			}
			for range auditProbes {
				trial.clients = append(trial.clients, foreignClient(r))
			}
			out = append(out, trial)
		}
	}
	return out
}

// foreignClient returns a random client and request of the texts that the forms compare.
func foreignClient(r *rand.Rand) *permissiontest.Call {
	of := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	c := &permissiontest.Call{
		SNI:    of("", "api.shop.mesh", "b.shop.mesh", "apixshop.mesh"),
		Method: of("GET", "POST", "PUT"),
		Path:   of("/", "/admin", "/admin/x", "/adminx", "/api", "/api/a", "/apix", "/v1", "/v1/x", "/healthz", "/Healthz", "/healthz/x") + of("", "", "?a=/api/b"),
		Lines:  []request.Header{{Name: "host", Value: of("backend", "open.example", "OPEN.example", "open.example:80", "x.open.example")}},
	}
	if id := of("", "spiffe://shop.mesh/ns/web", "spiffe://shop.mesh/ns/web/sa/web", "spiffe://shop.mesh/ns/web/sa/legacy", "spiffe://shopxmesh/ns/web/sa/web", "spiffe://shop.mesh/ns/batch/sa/jobs",
		"spiffe://shop.mesh/ns/default/dc/dc1/svc/web", "spiffe://shop.mesh/ns/default/dc/dc1/svc/bad", "spiffe://shop.mesh/ns/default/dc/dc1/svc", "spiffe://shopxmesh/ns/default/dc/dc1/svc/web"); id != "" {
		c.URIs = []string{id}
	}
	if tier := of("", "gold", "Gold", "golden", "silver"); tier != "" {
		c.Lines = append(c.Lines, request.Header{Name: "x-tier", Value: tier})
	}
	return c
}

// listener returns a listener of the form: it has its filters and routes, and no filter of ours.
func (m *foreignTrial) listener(t *testing.T, ca *envoytest.Authority) object {
	l := listenerOf(t, ca, m.name, m.permissions, printedFilter{name: "none", config: object{}}, false)
	chain := l["filter_chains"].([]object)[0]
	all := chain["filters"].([]object)
	last := all[len(all)-1]
	own := m.body["filters"].([]any)
	if m.form.tcp {
		chain["filters"] = append(slices.Clone(own), last)
		return l
	}
	manager := last["typed_config"].(object)
	filters := manager["http_filters"].([]object)
	manager["http_filters"] = append(slices.Clone(own), filters[len(filters)-1])
	if hosts := m.body["virtual_hosts"]; hosts != nil {
		manager["route_config"] = object{"virtual_hosts": hosts}
	}
	chain["filters"] = []object{last}
	return l
}

// mutateForeign makes the n-th fault in a form and names it; ok is false if there are fewer.
func mutateForeign(body object, n int) (name string, ok bool) {
	do := func(what string, fault func()) {
		if n == 0 {
			name, ok = what, true
			fault()
		}
		n--
	}
	opposites := map[string]string{"and_rules": "or_rules", "or_rules": "and_rules", "and_ids": "or_ids", "or_ids": "and_ids", "and_matcher": "or_matcher", "or_matcher": "and_matcher",
		"rules": "shadow_rules", "matcher": "shadow_matcher", "path_separated_prefix": "prefix", "exact": "prefix", "prefix": "exact"}
	var walk func(path string, o object)
	walk = func(path string, o object) {
		rename := func(key, to string) func() { return func() { o[to] = o[key]; delete(o, key) } }
		for _, key := range slices.Sorted(maps.Keys(o)) {
			at := path + "." + key
			switch v := o[key].(type) {
			case bool:
				switch key {
				case "invert_match", "present_match":
					do(at+" is the reverse", func() { o[key] = !v })
				}
			case string:
				switch {
				case key == "action" && v == "ALLOW":
					do(at+" denies", func() { o[key] = "DENY" })
				case key == "action":
					do(at+" allows", func() { o[key] = "ALLOW" })
				case key == "exact" || key == "prefix" && v != "/":
					do(at+" is "+opposites[key], rename(key, opposites[key]))
					do(at+" lacks its last letter", func() { o[key] = v[:len(v)-1] })
					if path != "" && !strings.HasSuffix(path, ".match") {
						do(at+" ignores case", func() { o["ignore_case"] = true })
						do(at+" is contained", rename(key, "contains"))
						do(at+" is a suffix", rename(key, "suffix"))
					}
				case key == "path_separated_prefix":
					do(at+" is a prefix of the text", rename(key, "prefix"))
				case key == "exact_match":
					do(at+" is a prefix", rename(key, "prefix_match"))
				case key == "regex":
					for _, edit := range [][2]string{{`\.`, `.`}, {`/.*`, `.*`}, {`GET|PUT`, `GET|POST`}, {`web`, `w`}, {`bad`, `bad.*`}, {`([/?].*)?`, ``}} {
						if strings.Contains(v, edit[0]) {
							do(at+" has "+edit[1]+" for "+edit[0], func() { o[key] = strings.Replace(v, edit[0], edit[1], 1) })
						}
					}
				}
			case []any:
				for i := range v {
					inner, isObject := v[i].(object)
					if mayLack(key, v, i) {
						do(fmt.Sprintf("%s lacks [%d]", at, i), func() { o[key] = slices.Delete(slices.Clone(v), i, i+1) })
					}
					if i > 0 && (key == "matchers" || key == "routes") {
						do(fmt.Sprintf("%s has [%d] first", at, i), func() { v[0], v[i] = v[i], v[0] })
					}
					if isObject {
						walk(fmt.Sprintf("%s[%d]", at, i), inner)
					}
				}
			case object:
				switch key {
				case "policies", "typed_per_filter_config":
					for _, inner := range slices.Sorted(maps.Keys(v)) {
						do(at+" lacks "+inner, func() { delete(v, inner) })
					}
				case "map":
					for _, inner := range slices.Sorted(maps.Keys(v)) {
						if len(v) > 1 {
							do(at+" lacks "+inner, func() { delete(v, inner) })
						}
					}
				case "not_rule", "not_id", "not_matcher":
					do(at+" is not negated", func() {
						delete(o, key)
						maps.Copy(o, v)
					})
				case "on_no_match", "rbac":
					do("no "+at, func() { delete(o, key) })
				case "single_predicate":
					do(at+" is negated", func() { delete(o, key); o["not_matcher"] = object{key: v} })
				case "url_path":
					do(at+" is compared with the query", func() {
						delete(o, key)
						o["header"] = object{"name": ":path", "string_match": v["path"]}
					})
				}
				list := v["rules"] != nil || v["ids"] != nil || v["predicate"] != nil
				if to := opposites[key]; to != "" && (list || o["@type"] != nil || path == "") {
					do(at+" is "+to, rename(key, to))
				}
				walk(at, v)
			}
		}
	}
	walk("", body)
	return name, ok
}

// mayLack reports whether Envoy takes a list without one of its elements, and whether the last
// route still takes every request.
func mayLack(key string, list []any, i int) bool {
	switch key {
	case "filters":
		kind, _ := list[i].(object)["typed_config"].(object)["@type"].(string)
		return strings.HasSuffix(kind, ".RBAC")
	case "virtual_hosts", "on_request_headers":
		return false
	case "routes":
		return i < len(list)-1
	case "predicate":
		return len(list) > 2
	}
	return len(list) > 1
}
