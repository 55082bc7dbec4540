package meshratelimit_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf/conftest"
	"github.com/meshmatch/meshmatch/core/conf/meshratelimit"
)

func TestAccepted(t *testing.T) {
	conftest.Accepted(t, meshratelimit.Kind(), `
type: MeshRateLimit
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  from:
    - targetRef: {kind: Mesh, name: default}
      default:
        local:
          http:
            disabled: false
            requestRate: {num: 5, interval: 10s}
            onRateLimit:
              status: 423
              headers:
                set: [{name: x-limited, value: "true"}]
                add: []
          tcp:
            disabled: true
            connectionRate: {num: 1, interval: 50ms}
`, `
type: MeshRateLimit
mesh: default
name: by-match
spec:
  targetRef: {kind: MeshHTTPRoute, name: info}
  rules:
    - matches: [{spiffeId: {type: Exact, value: "spiffe://mesh/ns/default/sa/web"}}]
      default: {local: {http: {disabled: true}}}
`)
}

func TestRejected(t *testing.T) {
	conftest.Rejected(t, meshratelimit.Kind(), map[string]conftest.Case{
		"no request": {
			Conf: `{local: {http: {requestRate: {num: 0, interval: 1s}}}}`,
			Want: `p.yaml:2:36: spec.rules[0].default.local.http.requestRate.num: must be at least 1`,
		},
		"interval missing": {
			In:   "from",
			Conf: `{local: {tcp: {connectionRate: {num: 1}}}}`,
			Want: `p.yaml:2:32: spec.from[0].default.local.tcp.connectionRate.interval: required field is missing`,
		},
		"interval too short": {
			Conf: `{local: {http: {requestRate: {num: 1, interval: 49ms}}}}`,
			Want: `p.yaml:2:49: spec.rules[0].default.local.http.requestRate.interval: must be at least 50ms`,
		},
		"no status": {
			Conf: `{local: {http: {onRateLimit: {status: 0}}}}`,
			Want: `p.yaml:2:39: spec.rules[0].default.local.http.onRateLimit.status: must be an HTTP status, from 100 to 599`,
		},
		"header name": {
			Conf: `{local: {http: {onRateLimit: {headers: {add: [{name: "", value: a}]}}}}}`,
			Want: `p.yaml:2:54: spec.rules[0].default.local.http.onRateLimit.headers.add[0].name: bad header name ""; use letters, digits and -`,
		},
	})
}
