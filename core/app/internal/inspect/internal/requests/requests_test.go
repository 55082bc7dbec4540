package requests_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// viewOf returns the view of documents.
func viewOf(t *testing.T, by semantics.Semantics, documents ...string) *core.View {
	t.Helper()
	view, err := core.Options{Semantics: by}.NewView(t.Context(), kinds.All(), resourcetest.Decode(t, strings.Join(documents, "\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	return view
}

const (
	web     = "{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}, {port: 81, tags: {kuma.io/service: admin}}, {port: 82, tags: {kuma.io/service: web}}]}}"
	gateway = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, gateway: {tags: {kuma.io/service: edge}}}}"
	mtls    = "{type: Mesh, name: default, mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}}"
	off     = "{type: Mesh, name: default, mtls: {backends: [{name: ca, type: builtin}]}}"
	all     = "selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: /web}"
	files   = "{type: MeshIdentity, name: ids, spec: {" + all + ", provider: {type: Extension, extension: {name: files, config: {certificate: /c, privateKey: /k, trustBundle: /t}}}}}"
	bundled = "{type: MeshIdentity, name: ids, spec: {" + all + ", provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}"
	spire   = "{type: MeshIdentity, name: ids, spec: {" + all + ", provider: {type: Spire}}}"
	others  = "{type: MeshIdentity, name: others, spec: {selector: {dataplane: {matchLabels: {app: db}}}, spiffeID: {trustDomain: other}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}"
	broken  = "{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {path: '/{{ label \"absent\" }}'}, provider: {type: Spire}}}"
)

// The requests that an inbound can receive (SPEC 13.1, 11.6), and the SPIFFE IDs that the
// dataplane has as a client (SPEC 17.1).
func TestSpaceOf(t *testing.T) {
	for _, c := range []struct {
		rule      string
		by        semantics.Semantics
		documents []string
		want      requests.Space
		ids       string
	}{
		{"13.1: without TLS", semantics.TargetRef, []string{web}, requests.Space{Plain: true}, "[]"},
		{"13.1: one trust domain, and tags in certificates", semantics.TargetRef, []string{web, files}, requests.Space{Domain: "td"}, "[spiffe://td/web]"},
		{"11.6: the certificates of Bundled have no tags", semantics.TargetRef, []string{web, bundled}, requests.Space{Domain: "td", NoTags: true}, "[spiffe://td/web]"},
		{"11.6: two CAs have two trust domains", semantics.TargetRef, []string{web, bundled, others}, requests.Space{NoTags: true}, "[spiffe://td/web]"},
		{"11.6: SPIRE may have the bundles of several trust domains", semantics.TargetRef, []string{web, spire}, requests.Space{NoTags: true}, "[spiffe://td/web]"},
		{"17.1: mtls of a Mesh gives an ID for each service", semantics.Kuma, []string{web, mtls}, requests.Space{Domain: "default", Classic: true}, "[spiffe://default/admin spiffe://default/web]"},
		{"17.1: a gateway has the ID of its service", semantics.Kuma, []string{gateway, mtls}, requests.Space{Domain: "default", Classic: true}, "[spiffe://default/edge]"},
		{"17.1: a MeshIdentity is in place of mtls", semantics.Kuma, []string{web, mtls, files}, requests.Space{Domain: "td"}, "[spiffe://td/web]"},
		{"17.1: mtls without an enabled backend", semantics.Kuma, []string{web, off}, requests.Space{Plain: true}, "[]"},
		{"17.1: Kuma 3 reads no mtls", semantics.Kuma3, []string{web, mtls}, requests.Space{Plain: true}, "[]"},
		{"17.1: a MeshIdentity that cannot give an ID", semantics.Kuma, []string{web, mtls, broken}, requests.Space{Plain: true}, "error"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			view := viewOf(t, c.by, c.documents...)
			d := view.Dataplanes("default")[0]
			if got := requests.SpaceOf(view, d); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			ids, err := requests.IDsOf(view, d)
			if got := fmt.Sprint(ids); err == nil && got != c.ids || (err != nil) != (c.ids == "error") {
				t.Errorf("got the IDs %s and the error %v, want %s", got, err, c.ids)
			}
		})
	}
}

// What the inbound sees of a request, and what the client cannot show to it (SPEC 13.1).
func TestShown(t *testing.T) {
	tags := resource.NewTags(map[string]string{"version": "v1"})
	full := request.Request{SpiffeID: "spiffe://td/a", SNI: "a.example", Tags: tags, Method: "GET"}
	service := func(name string) resource.Tags {
		return resource.NewTags(map[string]string{resource.ServiceTag: name})
	}
	classic := requests.Space{Domain: "default", Classic: true}
	for _, c := range []struct {
		rule   string
		space  requests.Space
		of     request.Request
		want   request.Request
		hidden string
	}{
		{"with TLS", requests.Space{}, full, full, "[]"},
		{"without TLS", requests.Space{Plain: true}, full, request.Request{Method: "GET"}, "[SPIFFE ID tags server name]"},
		{"nothing to hide", requests.Space{Plain: true}, request.Request{Method: "GET"}, request.Request{Method: "GET"}, "[]"},
		{"certificates without tags", requests.Space{NoTags: true}, full, request.Request{SpiffeID: "spiffe://td/a", SNI: "a.example", Method: "GET"}, "[tags]"},
		{"an ID of mtls has a service", classic, request.Request{SpiffeID: "spiffe://default/web"}, request.Request{SpiffeID: "spiffe://default/web", Tags: service("web")}, "[]"},
		{"a service of mtls has an ID", classic, request.Request{Tags: service("web")}, request.Request{SpiffeID: "spiffe://default/web", Tags: service("web")}, "[]"},
		{"other tags are kept", classic, request.Request{SpiffeID: "spiffe://default/web", Tags: tags}, request.Request{SpiffeID: "spiffe://default/web", Tags: service("web").With("version", "v1")}, "[]"},
		{"both are kept", classic, request.Request{SpiffeID: "spiffe://default/web", Tags: service("api")}, request.Request{SpiffeID: "spiffe://default/web", Tags: service("api")}, "[]"},
		{"an ID of another mesh has no service here", classic, request.Request{SpiffeID: "spiffe://other/web"}, request.Request{SpiffeID: "spiffe://other/web"}, "[]"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			before := fmt.Sprint(c.of)
			got, hidden := c.space.Shown(&c.of)
			if fmt.Sprint(*got) != fmt.Sprint(c.want) || fmt.Sprint(hidden) != c.hidden {
				t.Errorf("got %+v, hidden %v; want %+v, hidden %s", *got, hidden, c.want, c.hidden)
			}
			if after := fmt.Sprint(c.of); after != before {
				t.Errorf("the request changed from %s to %s", before, after)
			}
		})
	}
}

// The entries that a client can match (SPEC 13.1). Those that deny see the SPIFFE IDs of each
// trust domain (SPEC 11.6).
func TestVisible(t *testing.T) {
	const rules = `{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {
  deny: [{spiffeId: {type: Exact, value: spiffe://other/bad}}],
  allow: [{spiffeId: {type: Exact, value: spiffe://td/a}}, {spiffeId: {type: Prefix, value: spiffe://other}}, {method: GET}, {sni: {type: Exact, value: a.example}}]}}]}}`
	const clients = `{type: MeshTrafficPermission, name: p, spec: {from: [
  {targetRef: {kind: Mesh}, default: {action: Allow}}, {targetRef: {kind: MeshSubset, tags: {version: v1}}, default: {action: Deny}}]}}`
	for _, c := range []struct {
		rule, policy string
		space        requests.Space
		want         string
	}{
		{"any client", rules, requests.Space{}, "deny[0] allow[0] allow[1] allow[2] allow[3]"},
		{"one trust domain", rules, requests.Space{Domain: "td"}, "deny[0] allow[0] allow[2] allow[3]"},
		{"without TLS", rules, requests.Space{Plain: true}, "allow[2]"},
		{"certificates without tags and several trust domains", rules, requests.Space{NoTags: true}, "deny[0] allow[0] allow[1] allow[2] allow[3]"},
		{"items for tags", clients, requests.Space{}, "from[0] from[1]"},
		{"items for tags that certificates lack", clients, requests.Space{NoTags: true}, "from[0]"},
		{"items for tags without TLS", clients, requests.Space{Plain: true}, "from[0]"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			view := viewOf(t, semantics.TargetRef, web, files, c.policy)
			d := view.Dataplanes("default")[0]
			if got := places(c.space.Visible(requests.PermissionsOf(requests.ConfigOf(view, d), d, 0, true))); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// places has the places of entries and items, in the order of their lists.
func places(p *permission.Permissions) string {
	var all []string
	if p.Rules != nil {
		for _, e := range p.Rules.Entries() {
			all = append(all, fmt.Sprintf("%s[%d]", e.List, e.Index))
		}
	}
	if p.Clients != nil {
		for _, c := range p.Clients.Items() {
			all = append(all, fmt.Sprintf("%s[%d]", c.List, c.Index))
		}
		slices.Sort(all) // the last item decides, so it is the first one
	}
	return strings.Join(all, " ")
}

// The SPIFFE IDs of a trust domain that clients can have; one without an ID is trusted.
func TestTrusts(t *testing.T) {
	for _, c := range []struct {
		domain, id string
		want       bool
	}{
		{"td", "spiffe://td/a", true}, {"td", "spiffe://other/a", false}, {"td", "spiffe://td.other/a", false}, {"td", "", true}, {"", "spiffe://other/a", true},
	} {
		if got := (requests.Space{Domain: c.domain}).Trusts(c.id); got != c.want {
			t.Errorf("the domain %q trusts %q: got %t", c.domain, c.id, got)
		}
	}
}

// The entries that decide about a request, in the decision or the shadow decision, and whether
// any request is allowed (SPEC 13.5).
func TestDeciding(t *testing.T) {
	for _, c := range []struct {
		rule, conf string
		decides    string
		allows     bool
	}{
		{"an entry behind an equal one decides nothing", "allow: [{method: GET}, {method: GET}]", "allow[0]", true},
		{"a denial of all leaves nothing to allow", "deny: [{path: {type: Prefix, value: /}}], allow: [{method: GET}]", "deny[0]", false},
		{"a shadow denial decides in the shadow decision", "allowWithShadowDeny: [{method: GET}]", "allowWithShadowDeny[0]", true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			view := viewOf(t, semantics.TargetRef, web, files, "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {"+c.conf+"}}]}}")
			d := view.Dataplanes("default")[0]
			decides, allows := requests.Deciding(requests.PermissionsOf(requests.ConfigOf(view, d), d, 0, true), requests.Limits(1))
			var got []string
			for place := range decides {
				got = append(got, fmt.Sprintf("%s[%d]", place.List, place.Index))
			}
			slices.Sort(got)
			if strings.Join(got, " ") != c.decides || allows != c.allows {
				t.Errorf("%v decide, a request is allowed: %t; want %s, %t", got, allows, c.decides, c.allows)
			}
		})
	}
}

// Permissions that are not applied allow all requests (SPEC 17.1), and are one key.
func TestInputsOf(t *testing.T) {
	view := viewOf(t, semantics.TargetRef, web, "{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {deny: [{method: GET}]}}]}}")
	d := view.Dataplanes("default")[0]
	config := requests.ConfigOf(view, d)
	if open, closed := requests.InputsOf(config, d, 0, true), requests.InputsOf(nil, d, 0, true); open != closed {
		t.Errorf("inputs without permissions differ: %+v and %+v", open, closed)
	}
	if of := requests.InputsOf(config, d, 0, false); of.Config != config || of.Protocol != request.HTTP || of.Open {
		t.Errorf("got %+v", of)
	}
	if p := requests.PermissionsOf(config, d, 1, false); !p.NotApplied || p.Protocol != request.TCP || !p.Decide(&request.Request{}).Decision.Allow {
		t.Errorf("permissions that are not applied: got %+v", p)
	}
}
