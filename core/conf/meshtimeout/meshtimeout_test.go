package meshtimeout_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf/conftest"
	"github.com/meshmatch/meshmatch/core/conf/meshtimeout"
)

func TestAccepted(t *testing.T) {
	conftest.Accepted(t, meshtimeout.Kind(), `
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
        http: {}
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
      default: {}
  rules:
    - matches:
        - path: {type: Prefix, value: /checkout}
          method: POST
      default: {idleTimeout: 0s}
`)
}

func TestRejected(t *testing.T) {
	conftest.Rejected(t, meshtimeout.Kind(), map[string]conftest.Case{
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
