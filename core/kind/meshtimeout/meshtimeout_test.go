package meshtimeout_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshtimeout.Kind(), `
type: MeshTimeout
mesh: default
name: outbounds-and-inbounds
spec:
  targetRef: {kind: Mesh, name: default}
  to:
    - targetRef: {kind: Mesh, name: default}
      default:
        connectionTimeout: 10s
        idleTimeout: 1h
        http:
          requestTimeout: 15s
          streamIdleTimeout: 1h30m
          maxStreamDuration: 0s
          maxConnectionDuration: 24h
          requestHeadersTimeout: 500ms
    - targetRef: {kind: MeshHTTPRoute, name: info}
      default:
        http: {requestTimeout: 1s}
  from:
    - targetRef: {kind: MeshSubset, name: default, tags: {team: dev}}
      default: {connectionTimeout: 2s}
`, `
type: MeshTimeout
mesh: default
name: of-a-route
spec:
  targetRef: {kind: MeshHTTPRoute, name: info}
  to:
    - targetRef: {kind: MeshService, name: backend}
      default: {idleTimeout: 1s}
  rules:
    - matches:
        - path: {type: Prefix, value: /checkout}
          method: POST
      default: {idleTimeout: 0s}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshtimeout.Kind(), map[string]kindtest.Case{
		"HTTP without timeouts": {
			Conf: `{http: {}}`,
			Want: `p.yaml:2:8: spec.to[0].default.http: sets nothing; set a field, or remove it`,
		},
		"zero connection timeout": {
			Conf: `{connectionTimeout: 0s}`,
			Want: `p.yaml:2:21: spec.to[0].default.connectionTimeout: must be longer than 0s`,
		},
		"negative": {
			Conf: `{idleTimeout: -1s}`,
			Want: `p.yaml:2:15: spec.to[0].default.idleTimeout: bad duration "-1s"; it must not be negative`,
		},
		"without a unit": {
			In:   "from",
			Conf: `{http: {requestTimeout: "15"}}`,
			Want: `p.yaml:2:25: spec.from[0].default.http.requestTimeout: bad duration "15"; write a number with a unit, such as 500ms, 15s or 1h30m`,
		},
		"a field of 000's UpstreamTimeout": {
			In:   "rules",
			Conf: `{connectTimeout: 15s}`,
			Want: `p.yaml:2:2: spec.rules[0].default.connectTimeout: unknown field; did you mean "connectionTimeout"?`,
		},
	})
}

// Timeouts of a connection cannot depend on the client's SPIFFE ID.
func TestSpiffeIDMatches(t *testing.T) {
	const match = `{spiffeId: {type: Exact, value: "spiffe://a/b"}}`
	for name, c := range map[string]struct{ rule, want string }{
		"requests":             {`matches: [` + match + `], default: {http: {requestTimeout: 1s, streamIdleTimeout: 1s, maxStreamDuration: 1s}}`, ``},
		"connections":          {`matches: [{path: {type: Exact, value: /a}}], default: {idleTimeout: 1s}`, ``},
		"no matches":           {`matches: [], default: {idleTimeout: 1s}`, ``},
		"connections by ID":    {`matches: [{sni: a}, ` + match + `], default: {connectionTimeout: 1s, idleTimeout: 1s}`, "f:1:161: spec.rules[0].default.connectionTimeout: cannot depend on a spiffeId match; move it to a rule without spiffeId\nf:1:178: spec.rules[0].default.idleTimeout: cannot depend on a spiffeId match; move it to a rule without spiffeId"},
		"HTTP timeouts of one": {`matches: [` + match + `], default: {http: {maxConnectionDuration: 1s, requestHeadersTimeout: 1s}}`, "f:1:162: spec.rules[0].default.http.maxConnectionDuration: cannot depend on a spiffeId match; move it to a rule without spiffeId\nf:1:189: spec.rules[0].default.http.requestHeadersTimeout: cannot depend on a spiffeId match; move it to a rule without spiffeId"},
	} {
		t.Run(name, func(t *testing.T) {
			loader := resource.Loader{Kinds: resource.NewKinds(meshtimeout.Kind())}
			_, err := loader.Decode(t.Context(), resource.Input{Name: "f", Data: []byte(`{type: MeshTimeout, mesh: default, name: a, spec: {rules: [{` + c.rule + `}]}}`)})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
