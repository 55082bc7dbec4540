package xds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/results"
)

// reported is a mesh in which each kind of item sets a field of the conf of an outbound: for the
// whole mesh, for a service, and for a route.
const reportedMesh = `
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}], outbound: [{port: 81, tags: {kuma.io/service: api}}]}}
---
{type: MeshHTTPRoute, name: info, spec: {to: [{targetRef: {kind: MeshService, name: api}, rules: [{matches: [{path: {type: PathPrefix, value: /info}}], default: {}}]}]}}
---
{type: MeshTimeout, name: mesh, spec: {to: [{default: {connectionTimeout: 1s}}]}}
---
{type: MeshTimeout, name: service, spec: {to: [{targetRef: {kind: MeshService, name: api}, default: {idleTimeout: 4s, http: {requestTimeout: 5s}}}]}}
---
{type: MeshTimeout, name: route, spec: {to: [{targetRef: {kind: MeshHTTPRoute, name: info}, default: {http: {streamIdleTimeout: 2s}}}]}}
---
{type: MeshTimeout, name: in, spec: {targetRef: {kind: Dataplane, name: web}, rules: [{default: {idleTimeout: 6s}}]}}
`

// A warning names the items that set the field, and is silent or left out where an item is meant
// for other places (SPEC 11.1, 11.4).
func TestReport(t *testing.T) {
	view := coretest.View(t, reportedMesh)
	config, err := view.Config(view.Dataplanes("default")[0], "MeshTimeout", core.Enforced)
	if err != nil {
		t.Fatal(err)
	}
	out := config.Outbounds[0].Effective
	route := config.Outbounds[0].Routes[0].Effective
	in := config.Inbounds[0].Rules[0].Effective
	for name, c := range map[string]struct {
		report func(*Report)
		want   []string
	}{
		"each item that sets a part": {
			func(r *Report) { r.Warn(diag.NoEffectHere, out, "/http", "why") }, []string{"service /http: why"},
		},
		"each item of the conf": {
			func(r *Report) { r.Warn(diag.NoEffectHere, out, "", "why") }, []string{"mesh : why", "service : why"},
		},
		"a field that nothing sets": {func(r *Report) { r.Warn(diag.NoEffectHere, out, "/http/maxStreamDuration", "why") }, nil},
		"a protocol, for the mesh": {
			func(r *Report) { r.WarnProtocol(out, "/connectionTimeout", "why") }, []string{"mesh /connectionTimeout: why (silent)"},
		},
		"a protocol, for a service": {
			func(r *Report) { r.WarnProtocol(out, "/idleTimeout", "why") }, []string{"service /idleTimeout: why"},
		},
		"a route, not of the outbound": {func(r *Report) { r.WarnRoute(route, "/idleTimeout", "why") }, nil},
		"a route, its own item": {
			func(r *Report) { r.WarnRoute(route, "/http/streamIdleTimeout", "why") }, []string{"route /http/streamIdleTimeout: why"},
		},
		"an inbound": {func(r *Report) { r.WarnInbound(in, "/idleTimeout", "why") }, []string{"in /idleTimeout: why"}},
		"a reference": {
			func(r *Report) { r.WarnUnresolved(out, "/idleTimeout", "why") }, []string{"service /idleTimeout: why (inspected)"},
		},
		"an advice": {func(r *Report) { r.Advise(diag.NoEffectHere, out, "/idleTimeout", "why") }, []string{"service /idleTimeout: why (advice)"}},
		"fields that TCP has not": {
			func(r *Report) { r.OnlyTCP = true; r.WarnHTTPFields(out, "why") }, []string{"service /http: why (inspected)"},
		},
		"a patch that weakens": {
			func(r *Report) { r.Weaken(out, "/idleTimeout", "why") },
			[]string{`service /idleTimeout: it weakens the permissions: why; to do so on purpose, give the policy the label meshmatch.io/weakens-permissions: "true" (error) (weakens)`},
		},
		"a place":   {func(r *Report) { r.WarnPlace(diag.NoEffectHere, "why %d", 1) }, []string{" : why 1"}},
		"a failure": {func(r *Report) { r.Fail(diag.NoEffectHere, "why") }, []string{" : why (error)"}},
		"ignored": {
			func(r *Report) {
				r.WarnIgnored(&Translator{Ignored: []IgnoredField{{"/http/requestTimeout", "why"}, {"/absent", "why"}}}, out)
			},
			[]string{"service /http/requestTimeout: why"},
		},
		"ignored by gRPC, for the mesh": {
			func(r *Report) {
				r.WarnIgnoredByGRPC(&Translator{IgnoredByGRPC: []IgnoredField{{"/connectionTimeout", "why"}}}, out)
			}, nil,
		},
		"ignored by gRPC, for a service": {
			func(r *Report) {
				r.WarnIgnoredByGRPC(&Translator{IgnoredByGRPC: []IgnoredField{{"/idleTimeout", "why"}}}, out)
			},
			[]string{"service /idleTimeout: why"},
		},
		"ignored in an inbound": {
			func(r *Report) {
				r.WarnIgnoredInbound(&Translator{Ignored: []IgnoredField{{"/idleTimeout", "why"}}}, InboundConf{InboundConfig: config.Inbounds[0]})
			},
			[]string{"in /idleTimeout: why"},
		},
		"ignored, without a conf": {func(r *Report) { r.WarnIgnored(&Translator{Ignored: []IgnoredField{{"", "why"}}}, nil) }, nil},
	} {
		r := &Report{Place: "web", OfInbound: strings.Contains(name, "inbound")}
		c.report(r)
		slices.SortFunc(r.Warnings, Warning.Compare)
		var got []string
		for i := range r.Warnings {
			if r.Warnings[i].Place != "web" {
				t.Errorf("%s: the place is %q", name, r.Warnings[i].Place)
			}
			got = append(got, warningText(&r.Warnings[i]))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, c.want)
		}
	}
}

func warningText(w *Warning) string {
	policy := ""
	if w.Policy != nil {
		policy = w.Policy.Name
	}
	text := fmt.Sprintf("%s %s: %s", policy, w.Field, w.Message)
	for _, mark := range []struct {
		set  bool
		name string
	}{{w.Silent, "silent"}, {w.Inspected, "inspected"}, {w.Advice, "advice"}, {w.Error, "error"}, {w.Weakens, "weakens"}} {
		if mark.set {
			text += " (" + mark.name + ")"
		}
	}
	return text
}

// A field is applied once.
func TestApply(t *testing.T) {
	var r Report
	for _, field := range []string{"/a", "/b", "/a"} {
		r.Apply("MeshTimeout", field)
	}
	if want := []Applied{{"MeshTimeout", "/a"}, {"MeshTimeout", "/b"}}; !slices.Equal(r.Applied, want) {
		t.Errorf("applied: %v", r.Applied)
	}
}

// A warning has the position of its item, and the path of its field in the document.
func TestWarningDiagnostic(t *testing.T) {
	view := coretest.View(t, strings.ReplaceAll(reportedMesh, "spec: {to", "spec:\n  {to"))
	config, err := view.Config(view.Dataplanes("default")[0], "MeshTimeout", core.Enforced)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		conf      *results.Effective
		ofInbound bool
		path      string
	}{
		{config.Outbounds[0].Effective, false, "spec.to[0].default.http.requestTimeout"},
		{config.Inbounds[0].Rules[0].Effective, true, "spec.rules[0].default.http.requestTimeout"},
	} {
		r := Report{Place: "web", OfInbound: c.ofInbound}
		origin := c.conf.Origins[len(c.conf.Origins)-1]
		r.WarnPolicy(diag.NoEffectHere, origin.Policy, origin.Index, "/http/requestTimeout", "why")
		d := r.Warnings[0].Diagnostic()
		if d.Path != c.path || d.What != "why (web)" || d.Pos.Line == 0 {
			t.Errorf("the diagnostic is %+v, want the path %s", d, c.path)
		}
		if c.path[5] == 't' && d.Pos.Line <= origin.Policy.Pos.Line {
			t.Errorf("the position is %v, that of the policy %v", d.Pos, origin.Policy.Pos)
		}
	}
	place := Warning{Code: diag.NoEffectHere, Place: "web", Message: "why"}
	if d := place.Diagnostic(); d.What != "web: why" || place.String() != d.What {
		t.Errorf("the diagnostic of a place is %+v, and its text %q", d, place)
	}
}
