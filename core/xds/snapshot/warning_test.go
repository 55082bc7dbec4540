package snapshot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// Confs that no translator of their kind has a function for are warnings (SPEC 11.1).
func TestUntranslatedConfs(t *testing.T) {
	view := untranslated(t)
	const (
		timeoutIn  = "kri_mt_default___in_ item 0: no translator of MeshTimeout shapes inbounds, so it has no effect on proxies (kri_dp_default___web_)\n"
		permission = "kri_mtp_default___allow_ item 0: no translator of MeshTrafficPermission shapes inbounds, so it has no effect on proxies (kri_dp_default___web_)\n"
		limit      = "kri_mrl_default___clients_ item 0: no translator of MeshRateLimit shapes inbounds, so it has no effect on proxies (kri_dp_default___web_)\n"
		httpRoute  = "kri_mhttpr_default___root_ item 0: no translator of MeshHTTPRoute shapes outbounds, so it has no effect on proxies (kri_dp_default___web_)\n"
		trace      = "kri_mtr_default___all_ item 0: no translator of MeshTrace shapes anything, so it has no effect on proxies (kri_dp_default___web_)\n"
		timeoutOut = "kri_mt_default___out_ item 0: no translator of MeshTimeout shapes outbounds, so it has no effect on proxies (kri_dp_default___web_)\n"
		route      = "kri_mt_default___out_ item 1: no translator of MeshTimeout shapes outbounds, so it has no effect on proxies (kri_dp_default___web_)\n"
		shared     = "kri_mt_default___out_ item 1: all routes of an outbound share its MeshTimeout (default/api?kuma.io/protocol=http)\n"
	)
	outbound := func(*xds.Outbound, *results.Effective) {}
	chain := func(*xds.Chain, xds.InboundConf) {}
	for name, test := range map[string]struct {
		translators []xds.Translator
		want        string
	}{
		"no translator":             {nil, httpRoute + limit + timeoutIn + timeoutOut + route + permission + trace},
		"one for outbounds":         {[]xds.Translator{{Kind: "MeshTimeout", Outbound: outbound}}, httpRoute + limit + timeoutIn + shared + permission + trace},
		"one for inbounds":          {[]xds.Translator{{Kind: "MeshTimeout", Chain: chain}}, httpRoute + limit + timeoutOut + route + permission + trace},
		"one of the proxy's traces": {[]xds.Translator{{Kind: "MeshTrace", Outbound: outbound}}, httpRoute + limit + timeoutIn + timeoutOut + route + permission},
	} {
		t.Run(name, func(t *testing.T) {
			snapshot := snapshot.NewBuilder(test.translators, snapshot.Options{Audit: true}).At(view).Snapshot(view.Dataplanes("default")[0], xds.Envoy)
			if got := lines(snapshot.Warnings()); got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

// A warning has the path and the position of its item, whatever the name of the mesh, and
// whatever else the policy has.
func TestDiagnosticsOfItems(t *testing.T) {
	state := stateOf(t, `
type: Dataplane
mesh: inbound
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 1000, tags: {kuma.io/service: db}}]
---
type: MeshCircuitBreaker
mesh: inbound
name: both
spec:
  to: [{targetRef: {kind: MeshService, name: db}, default: {connectionLimits: {maxRequests: 1}}}]
---
type: MeshTimeout
mesh: inbound
name: both
spec:
  targetRef: {kind: Dataplane, name: web}
  to: [{default: {idleTimeout: 1s}}]
  rules: [{default: {http: {requestTimeout: 1s}}}]
`)
	want := []string{
		"mesh.yaml:14:8: spec.to[0].default.connectionLimits.maxRequests: the connections of a TCP service have no requests (inbound/db)",
		"mesh.yaml:22:11: spec.rules[0].default.http: a TCP inbound sees no requests (inbound/10.0.0.1/80)",
	}
	var got []string
	for _, w := range warningsOf(t, state) {
		got = append(got, w.Diagnostic().Error())
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// An ignored field is a warning whatever the translator shapes.
func TestIgnoredFields(t *testing.T) {
	view := untranslated(t)
	ignored := []xds.IgnoredField{{Field: "/idleTimeout", Reason: "it is ignored"}, {Field: "/http/requestTimeout", Reason: "it is ignored"}}
	for name, test := range map[string]struct {
		translator xds.Translator
		want       []string
	}{
		"endpoints": {xds.Translator{Endpoints: func(*xds.Endpoints, *results.Effective) {}}, []string{"out_ item 0 /idleTimeout"}},
		"clusters":  {xds.Translator{Cluster: func(*xds.Cluster, *results.Effective) {}}, []string{"out_ item 0 /idleTimeout"}},
		"listeners": {xds.Translator{Outbound: func(*xds.Outbound, *results.Effective) {}}, []string{"out_ item 0 /idleTimeout"}},
		"routes":    {xds.Translator{Route: func(*xds.Route, *results.Effective) {}}, []string{"out_ item 0 /idleTimeout", "out_ item 1 /http/requestTimeout"}},
		"inbounds":  {xds.Translator{Inbound: func(*xds.Inbound, xds.InboundConf) {}}, []string{"in_ item 0 /idleTimeout"}},
		"chains":    {xds.Translator{Chain: func(*xds.Chain, xds.InboundConf) {}}, []string{"in_ item 0 /idleTimeout"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.translator.Kind, test.translator.Ignored = "MeshTimeout", ignored
			snapshot := snapshot.NewBuilder([]xds.Translator{test.translator}, snapshot.Options{Audit: true}).At(view).Snapshot(view.Dataplanes("default")[0], xds.Envoy)
			var got []string
			for _, w := range snapshot.Warnings() {
				if item, _, found := strings.Cut(w.String(), ": it is ignored"); found {
					got = append(got, strings.TrimPrefix(item, "kri_mt_default___"))
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// untranslated returns a mesh with policies of many kinds for the dataplane web.
func untranslated(t *testing.T) *core.View {
	t.Helper()
	view := coretest.View(t, `
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]
  outbound: [{port: 10001, tags: {kuma.io/service: api, kuma.io/protocol: http}}]
---
{type: MeshTrace, name: all, spec: {default: {sampling: {overall: 10}}}}
---
{type: MeshTimeout, name: out, spec: {to: [{default: {idleTimeout: 1s}}, {targetRef: {kind: MeshHTTPRoute, name: root}, default: {http: {requestTimeout: 2s}}}]}}
---
{type: MeshTimeout, name: in, spec: {rules: [{default: {idleTimeout: 1s}}]}}
---
{type: MeshRateLimit, name: clients, spec: {from: [{default: {local: {http: {disabled: true}}}}]}}
---
{type: MeshTrafficPermission, name: allow, spec: {rules: [{default: {allow: [{path: {type: Prefix, value: /}}]}}]}}
---
type: MeshHTTPRoute
name: root
spec: {to: [{targetRef: {kind: MeshService, name: api}, rules: [{matches: [{path: {type: PathPrefix, value: /}}], default: {}}]}]}
`)
	return view
}
