package check_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
)

// viewOf returns the view of documents.
func viewOf(t *testing.T, by semantics.Semantics, documents ...string) (*core.View, *check.Check) {
	t.Helper()
	set := resourcetest.Decode(t, strings.Join(documents, "\n---\n"))
	view, err := core.Options{Semantics: by}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	return view, check.New(view, set)
}

// findings returns the findings with a code.
func findings(answer *check.Check, code diag.Code) []diag.Diagnostic {
	return slices.DeleteFunc(answer.Findings(), func(d diag.Diagnostic) bool { return d.Code != code })
}

// Where each finding is, and a similar input that does not have it (core/diag/FINDINGS.md).
func TestFindings(t *testing.T) {
	const (
		web       = "{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1, inbound: [{port: 80, name: http, protocol: http, tags: {kuma.io/service: web, version: v1}}], outbound: [{port: 1000, tags: {kuma.io/service: api}}]}}"
		api       = "{type: Dataplane, name: api, labels: {app: api}, networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: tcp, tags: {kuma.io/service: api}}]}}"
		httpAPI   = "{type: Dataplane, name: api-2, networking: {address: 10.0.0.3, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: api}}]}}"
		web2      = "{type: Dataplane, name: web-2, labels: {app: web}, networking: {address: 10.0.0.4, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}}"
		tcpWeb2   = "{type: Dataplane, name: web-2, labels: {app: web}, networking: {address: 10.0.0.4, inbound: [{port: 80, protocol: tcp, tags: {kuma.io/service: web}}]}}"
		ids       = `{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: td, path: '/{{ label "app" }}'}, provider: {type: Spire}}}`
		timeout   = "{type: MeshTimeout, name: t, spec: {to: [{default: {idleTimeout: 1s}}]}}"
		retry     = "{type: MeshTimeout, name: t, spec: {to: [{targetRef: {kind: MeshService, name: api}, default: {http: {requestTimeout: 1s}}}]}}"
		from      = "{type: MeshTimeout, name: f, spec: {from: [{default: {idleTimeout: 1s}}]}}"
		rules     = "{type: MeshTimeout, name: r, spec: {rules: [{default: {idleTimeout: 1s}}]}}"
		shared    = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}, {port: 80, protocol: %s, tags: {kuma.io/service: canary}}]}}"
		workload  = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, servicePort: 8080, tags: {kuma.io/service: web}}, {port: 80, servicePort: 8081, tags: {kuma.io/service: canary}}]}}"
		otherMesh = "{type: MeshIdentity, mesh: other, name: ids, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: %s}, provider: {type: Spire}}}"
		service   = "{type: MeshService, name: api, labels: {kuma.io/display-name: api}, spec: {selector: {dataplaneTags: {kuma.io/service: api}}, ports: [{port: 80, name: main, targetPort: 80}]}, status: {vips: [{ip: 241.0.0.1}]}}"
		lists     = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], outbound: [{port: 1000, backendRef: {kind: MeshService, name: %s, port: 80}}]}}"
		reaches   = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001, reachableBackends: {refs: [{kind: MeshService, name: %s}]}}}}"
		item      = "{type: MeshRetry, name: r, spec: {to: [{targetRef: {kind: MeshService, %s}, default: {http: {numRetries: 1}}}]}}"
		zoned     = "{type: Dataplane, name: %s, labels: {kuma.io/zone: %s, kuma.io/origin: zone}, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: %s}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}"
		remote    = "{type: MeshService, name: db, labels: {kuma.io/zone: %s, kuma.io/origin: zone, kuma.io/display-name: db}, spec: {selector: {dataplaneTags: {kuma.io/service: db}}, ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.1}]}}"
		address   = "{type: MeshZoneAddress, name: west, labels: {kuma.io/zone: west, kuma.io/origin: zone}, spec: {address: 1.2.3.4, port: 10001}}"
	)
	with := func(document string, values ...string) string {
		for _, value := range values {
			document = strings.Replace(document, "%s", value, 1)
		}
		return document
	}
	allows := func(name, target, entries string) string {
		return "{type: MeshTrafficPermission, name: " + name + ", spec: {targetRef: {kind: Dataplane" + target + "}, rules: [{default: {allow: [" + entries + "]}}]}}"
	}
	exact := func(id string) string { return "{spiffeId: {type: Exact, value: '" + id + "'}}" }
	prefix := func(id string) string { return "{spiffeId: {type: Prefix, value: '" + id + "'}}" }
	clients := func(tags string) string {
		return "{type: MeshFaultInjection, name: f, spec: {from: [{targetRef: {kind: MeshSubset, tags: {" + tags + "}}, default: {http: [{abort: {httpStatus: 500, percentage: 1}}]}}]}}"
	}
	for _, c := range []struct {
		rule      string
		code      diag.Code
		by        semantics.Semantics
		documents []string
		want      string // the paths
	}{
		{"all policies of a mesh without dataplanes are one finding", diag.NoDataplanes, semantics.TargetRef, []string{timeout, rules}, "(resource)"},
		{"a mesh with a dataplane", diag.NoDataplanes, semantics.TargetRef, []string{web, timeout}, ""},
		{"a client with tags that no dataplane has", diag.AbsentClient, semantics.TargetRef, []string{web, clients("version: v9")}, "spec.from[0].targetRef"},
		{"a client with tags of a dataplane", diag.AbsentClient, semantics.TargetRef, []string{web, clients("version: v1")}, ""},
		{"a client with a key of a dataplane", diag.AbsentClient, semantics.TargetRef, []string{web, clients("version: '*'")}, ""},
		{"HTTP fields for a service of TCP", diag.HTTPOnTCP, semantics.TargetRef, []string{web, api, retry}, "spec.to[0].default.http"},
		{"HTTP fields for a service with an endpoint of HTTP", diag.HTTPOnTCP, semantics.TargetRef, []string{web, api, httpAPI, retry}, ""},
		{"HTTP fields for a service without endpoints", diag.HTTPOnTCP, semantics.TargetRef, []string{web, retry}, ""},
		{"5.6: from where other policies have rules", diag.FromIgnored, semantics.TargetRef, []string{web, from, rules}, "spec.from"},
		{"5.6: from alone", diag.FromIgnored, semantics.TargetRef, []string{web, from}, ""},
		{"17.1: from that Kuma 3 does not read", diag.FromNotRead, semantics.Kuma3, []string{web, from}, "spec.from"},
		{"17.1: from that is rules in Kuma 2", diag.FromNotRead, semantics.Kuma, []string{web, from}, ""},
		{"1.3: the protocol of a shared listener", diag.SharedListener, semantics.TargetRef, []string{with(shared, "tcp")}, "networking.inbound[1]"},
		{"1.3: the workload of a shared listener", diag.SharedListener, semantics.TargetRef, []string{workload}, "networking.inbound[1]"},
		{"1.3: inbounds that are alike", diag.SharedListener, semantics.TargetRef, []string{with(shared, "http")}, ""},
		{"12.1: a trust domain of two meshes, at each of them", diag.TrustDomainConflict, semantics.TargetRef, []string{web, ids, with(otherMesh, "td")}, "spec.spiffeID.trustDomain spec.spiffeID.trustDomain"},
		{"12.1: a trust domain for each mesh", diag.TrustDomainConflict, semantics.TargetRef, []string{web, ids, with(otherMesh, "other")}, ""},
		{"13.5: inbounds of one service that differ", diag.InboundsDiffer, semantics.TargetRef, []string{web, web2, allows("p", ", name: web", "{method: GET}")}, "networking.inbound[0]"},
		{"13.5: inbounds of other protocols", diag.InboundsDiffer, semantics.TargetRef, []string{web, tcpWeb2, allows("p", ", name: web", "{method: GET}")}, ""},
		{"13.5: inbounds that decide equally by other entries", diag.InboundsDiffer, semantics.TargetRef,
			[]string{web, web2, allows("p", ", name: web", "{method: GET}, {method: PUT}"), allows("q", ", name: web-2", "{method: PUT}, {method: GET}")}, ""},
		{"13.5: an ID that no dataplane has", diag.UnknownIdentity, semantics.TargetRef, []string{web, ids, allows("p", "", exact("spiffe://td/webb"))}, "spec.rules[0].default.allow[0].spiffeId"},
		{"13.5: a prefix of no ID", diag.UnknownIdentity, semantics.TargetRef, []string{web, ids, allows("p", "", prefix("spiffe://td/we"))}, "spec.rules[0].default.allow[0].spiffeId"},
		{"13.5: the ID and a prefix of a dataplane", diag.UnknownIdentity, semantics.TargetRef, []string{web, ids, allows("p", "", exact("spiffe://td/web")+", "+prefix("spiffe://td"))}, ""},
		{"13.5: no dataplane has an identity", diag.UnknownIdentity, semantics.TargetRef, []string{web, allows("p", "", exact("spiffe://td/webb"))}, ""},
		{"13.5: a prefix that matches as text", diag.PrefixOfText, semantics.Kuma, []string{web, ids, allows("p", "", prefix("spiffe://td/we"))}, "spec.rules[0].default.allow[0].spiffeId"},
		{"13.5: a prefix by segment", diag.PrefixOfText, semantics.Kuma, []string{web, ids, allows("p", "", prefix("spiffe://td"))}, ""},
		{"13.5: prefixes are by segment in target-ref", diag.PrefixOfText, semantics.TargetRef, []string{web, ids, allows("p", "", prefix("spiffe://td/we"))}, ""},
		{"17.1: permissions are not applied without an identity", diag.OpenInbound, semantics.Kuma, []string{web, allows("p", "", "{method: GET}")}, "networking.inbound[0]"},
		{"17.1: permissions are applied with an identity", diag.OpenInbound, semantics.Kuma, []string{web, ids, allows("p", "", "{method: GET}")}, ""},
		{"17.3: labels that find no destination", diag.UnresolvedReference, semantics.Kuma, []string{web, service, with(item, "labels: {team: none}")}, "spec.to[0].targetRef"},
		{"17.3: a port that the destination lacks", diag.UnresolvedReference, semantics.Kuma, []string{web, service, with(item, "name: api, sectionName: other")}, "spec.to[0].targetRef"},
		{"17.3: a name and a port of a destination", diag.UnresolvedReference, semantics.Kuma, []string{web, service, with(item, "name: api, sectionName: main")}, ""},
		{"17.3: an outbound that finds no destination", diag.UnresolvedReference, semantics.Kuma, []string{with(lists, "gone"), service}, "networking.outbound[0].backendRef"},
		{"17.3: an outbound that finds one", diag.UnresolvedReference, semantics.Kuma, []string{with(lists, "api"), service}, ""},
		{"17.3: a reachable backend that finds no destination", diag.UnresolvedReference, semantics.Kuma, []string{with(reaches, "gone"), service}, "networking.transparentProxying.reachableBackends.refs[0]"},
		{"17.3: a reachable backend that finds one", diag.UnresolvedReference, semantics.Kuma, []string{with(reaches, "api"), service}, ""},
		{"17.3: a port by its name misses an outbound by its number", diag.MissedPort, semantics.Kuma, []string{with(lists, "api"), service, with(item, "name: api, sectionName: main")}, "spec.to[0].targetRef.sectionName"},
		{"17.3: an item without a port", diag.MissedPort, semantics.Kuma, []string{with(lists, "api"), service, with(item, "name: api")}, ""},
		{"17.4: a service of another zone without an address", diag.NoEndpoints, semantics.Kuma, []string{with(zoned, "web", "east", "web"), with(zoned, "db", "west", "db"), ids, with(remote, "west")}, "(resource)"},
		{"17.4: a zone with an address", diag.NoEndpoints, semantics.Kuma, []string{with(zoned, "web", "east", "web"), with(zoned, "db", "west", "db"), ids, with(remote, "west"), address}, ""},
		{"17.4: a service of the zone of its clients", diag.NoEndpoints, semantics.Kuma, []string{with(zoned, "web", "east", "web"), with(zoned, "db", "east", "db"), ids, with(remote, "east")}, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, answer := viewOf(t, c.by, c.documents...)
			var paths, lines []string
			for _, d := range findings(answer, c.code) {
				path := d.Path
				if path == "" {
					path = "(resource)"
				}
				paths, lines = append(paths, path), append(lines, d.Line())
			}
			if got := strings.Join(paths, " "); got != c.want {
				t.Errorf("%s: got %q, want %q\n%s", c.code, got, c.want, strings.Join(lines, "\n"))
			}
		})
	}
}

// The hint of a reference that finds nothing names what is near (SPEC 17.3).
func TestNearReferences(t *testing.T) {
	const web = "{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}"
	service := func(labels string) string {
		return "{type: MeshService, name: api-1, labels: {kuma.io/display-name: api" + labels + "}, spec: {selector: {dataplaneTags: {kuma.io/service: api}}, ports: [{port: 80}]}, status: {vips: [{ip: 241.0.0.1}]}}"
	}
	policy := func(name, labels string) string {
		return "{type: MeshRetry, name: r, labels: {" + labels + "}, spec: {to: [{targetRef: {kind: MeshService, name: " + name + "}, default: {http: {numRetries: 1}}}]}}"
	}
	const east = "kuma.io/zone: east, kuma.io/origin: zone"
	for _, c := range []struct {
		rule      string
		by        semantics.Semantics
		documents []string
		want      string
	}{
		{"Kuma 3 finds nothing by a name", semantics.Kuma3, []string{service(""), policy("api", "")}, "write labels: {kuma.io/display-name: api}"},
		{"the policy is of no zone", semantics.Kuma, []string{service(", " + east), policy("api", "")}, "give the policy the labels kuma.io/origin: zone and kuma.io/zone: east"},
		{"the destination is of no zone", semantics.Kuma, []string{service(""), policy("api", east)}, "is of no zone"},
		{"another namespace", semantics.Kuma, []string{service(", k8s.kuma.io/namespace: shop, " + east), policy("api", "k8s.kuma.io/namespace: other, "+east)}, "write its namespace"},
		{"nothing is near", semantics.Kuma, []string{service(""), "{type: MeshRetry, name: r, spec: {to: [{targetRef: {kind: MeshExternalService, name: api}, default: {http: {numRetries: 1}}}]}}"}, "check the reference"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, answer := viewOf(t, c.by, append(c.documents, web)...)
			found := findings(answer, diag.UnresolvedReference)
			if len(found) != 1 || !strings.Contains(found[0].Hint, c.want) {
				t.Errorf("got %v, want one with the hint %s", found, c.want)
			}
		})
	}
}

// Over TLS a dataplane without an identity is served to no client (SPEC 12.1): one finding for each
// mesh, at the first of them.
func TestUnidentified(t *testing.T) {
	const (
		web = "{type: Dataplane, name: web, labels: {app: web}, networking: {address: 10.0.0.1}}"
		db  = "{type: Dataplane, name: db, networking: {address: 10.0.0.2}}"
		api = "{type: Dataplane, name: api, networking: {address: 10.0.0.3}}"
		ids = "{type: MeshIdentity, name: ids, spec: {selector: {dataplane: {matchLabels: {app: web}}}, provider: {type: Spire}}}"
	)
	for _, c := range []struct {
		rule      string
		documents []string
		want      string // the begin of the only finding
	}{
		{"all are selected", []string{web, ids}, ""},
		{"one is not", []string{web, db, ids}, "kri_dp_default___db_ has no identity"},
		{"several are not", []string{api, web, db, ids}, "kri_dp_default___api_ and 1 more dataplane of the mesh default have no identity"},
	} {
		view, _ := viewOf(t, semantics.TargetRef, c.documents...)
		got := ""
		for _, d := range check.Unidentified(view) {
			got += d.What
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.rule, got, c.want)
		}
	}
}

// Findings with one cause are one element: the first of them, their number, and up to three others
// (SPEC 13.5).
func TestGrouped(t *testing.T) {
	finding := func(line int, cause string) diag.Diagnostic {
		return diag.Diagnostic{Code: diag.SelectsNothing, Pos: diag.Position{File: "f.yaml", Line: line, Column: 1}, Path: "spec", What: "it", Cause: cause}
	}
	for _, c := range []struct {
		rule     string
		findings []diag.Diagnostic
		want     string
	}{
		{"no cause", []diag.Diagnostic{finding(1, ""), finding(2, "")}, "f.yaml:1:1: spec: it [MM2001]|f.yaml:2:1: spec: it [MM2001]"},
		{"other causes", []diag.Diagnostic{finding(1, "a"), finding(2, "b")}, "f.yaml:1:1: spec: it [MM2001]|f.yaml:2:1: spec: it [MM2001]"},
		{"one cause", []diag.Diagnostic{finding(1, "a"), finding(2, "b"), finding(3, "a")}, "f.yaml:1:1: spec: it (2 with one cause, also at f.yaml:3:1) [MM2001]|f.yaml:2:1: spec: it [MM2001]"},
		{"more than three others", []diag.Diagnostic{finding(1, "a"), finding(2, "a"), finding(3, "a"), finding(4, "a"), finding(5, "a")},
			"f.yaml:1:1: spec: it (5 with one cause, also at f.yaml:2:1, f.yaml:3:1, f.yaml:4:1, ...) [MM2001]"},
	} {
		var lines []string
		for _, g := range check.Grouped(c.findings) {
			lines = append(lines, g.Line())
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.rule, got, c.want)
		}
	}

	var answer check.Check
	answer.SetFindings([]diag.Diagnostic{finding(2, "a"), finding(1, "a"), {Code: diag.ExceptedByDeny, What: "usual"}})
	data, err := json.Marshal(&answer)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Warnings []struct {
			Code     string
			Line     int
			Count    int
			Examples []struct{ Line int }
		}
		Info []struct{ Code string }
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Warnings) != 1 || got.Warnings[0].Line != 1 || got.Warnings[0].Count != 2 || len(got.Warnings[0].Examples) != 1 || got.Warnings[0].Examples[0].Line != 2 || len(got.Info) != 1 || got.Info[0].Code != "MM4007" {
		t.Errorf("the JSON is %s", data)
	}
}
