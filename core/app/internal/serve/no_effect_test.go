package serve_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// The Inspect API marks the fields that a proxy does not get. It reads the publication that
// is current when asked (SPEC 10).
func TestInspectMarksWhatTheProxyDoesNotGet(t *testing.T) {
	const policies = `
{type: MeshTimeout, name: t, spec: {
  to: [{default: {connectionTimeout: 3s, http: {requestTimeout: 4s, streamIdleTimeout: 5s}}}],
  rules: [{default: {idleTimeout: 6s, http: {requestTimeout: 7s}}}]}}
---
{type: MeshTrace, name: t, spec: {default: {backends: [{type: Zipkin, zipkin: {url: "http://zipkin:9411/api/v2/spans"}}]}}}
`
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "policies.yaml": policies})
		// marks returns the marked fields of an answer and the unmarked ones, each with its place.
		marks := func(query string) (marked, unmarked []string) {
			t.Helper()
			status, body, err := r.get("/meshes/default/dataplanes/web/_inspect"+query, nil)
			if err != nil || status != http.StatusOK {
				t.Fatal(status, body, err)
			}
			type conf struct {
				Fields map[string]struct {
					NoEffect string `json:"noEffect"`
				} `json:"fields"`
			}
			var answer struct {
				Policies []struct {
					Default   conf   `json:"default"`
					Outbounds []conf `json:"outbounds"`
					Inbounds  []struct {
						Rules []conf `json:"rules"`
					} `json:"inbounds"`
				} `json:"policies"`
			}
			if err := json.Unmarshal([]byte(body), &answer); err != nil {
				t.Fatal(err, body)
			}
			add := func(place string, c conf) {
				for _, field := range slices.Sorted(maps.Keys(c.Fields)) {
					if c.Fields[field].NoEffect != "" {
						marked = append(marked, place+field)
					} else {
						unmarked = append(unmarked, place+field)
					}
				}
			}
			for _, kind := range answer.Policies {
				add("default ", kind.Default)
				for _, outbound := range kind.Outbounds {
					add("to ", outbound)
				}
				for _, inbound := range kind.Inbounds {
					for _, rule := range inbound.Rules {
						add("rules ", rule)
					}
				}
			}
			return marked, unmarked
		}
		assert := func(query string, wantMarked, wantUnmarked []string) {
			t.Helper()
			marked, unmarked := marks(query)
			if !slices.Equal(marked, wantMarked) || !slices.Equal(unmarked, wantUnmarked) {
				t.Errorf("%s: marked %q and unmarked %q, want %q and %q", query, marked, unmarked, wantMarked, wantUnmarked)
			}
		}
		assert("?explain",
			[]string{"to /http/requestTimeout", "to /http/streamIdleTimeout", "rules /http/requestTimeout", "default /backends"},
			[]string{"to /connectionTimeout", "rules /idleTimeout"})
		assert("", nil, nil)

		// If the destination is HTTP, so is the outbound: the timeouts and spans take effect.
		r.write("mesh.yaml", strings.Replace(mesh, "port: 8081, tags: {", "port: 8081, tags: {kuma.io/protocol: http, ", 1))
		r.eventually("an HTTP destination", func() bool {
			_, unmarked := marks("?explain")
			return slices.Contains(unmarked, "to /http/requestTimeout")
		})
		assert("?explain",
			[]string{"rules /http/requestTimeout"},
			[]string{"to /connectionTimeout", "to /http/requestTimeout", "to /http/streamIdleTimeout", "rules /idleTimeout", "default /backends"})
	})
}
