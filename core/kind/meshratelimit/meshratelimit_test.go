package meshratelimit_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshratelimit"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshratelimit.Kind(), `
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
	kindtest.Rejected(t, meshratelimit.Kind(), map[string]kindtest.Case{
		"status that Envoy lacks": {
			Conf: `{local: {http: {onRateLimit: {status: 499}}}}`,
			Want: `p.yaml:2:39: spec.rules[0].default.local.http.onRateLimit.status: Envoy does not have the status 499; use a status that is registered for HTTP`,
		},
		"more headers than Envoy adds": {
			Conf: `{local: {http: {onRateLimit: {headers: {set: [{name: a, value: a}, {name: b, value: a}, {name: c, value: a}, {name: d, value: a}, {name: e, value: a}, {name: f, value: a}], add: [{name: g, value: a}, {name: h, value: a}, {name: i, value: a}, {name: j, value: a}, {name: k, value: a}]}}}}}`,
			Want: `p.yaml:2:40: spec.rules[0].default.local.http.onRateLimit.headers: changes 11 headers; the limit of Envoy is 10 for this response`,
		},
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
		"nothing limited": {In: "from", Conf: `{local: {}}`, Want: `p.yaml:2:9: spec.from[0].default.local: sets nothing; set a field, or remove it`},
		"each protocol": {In: "from", Conf: `{local: {http: {}, tcp: {}}}`, Want: `p.yaml:2:16: spec.from[0].default.local.http: sets nothing; set a field, or remove it
p.yaml:2:25: spec.from[0].default.local.tcp: sets nothing; set a field, or remove it`},
	})
}

func TestWarned(t *testing.T) {
	kindtest.Warned(t, meshratelimit.Kind(), map[string]kindtest.Case{
		"status":   {In: "from", Conf: `{local: {http: {onRateLimit: {status: 200}}}}`, Want: `p.yaml:2:39: spec.from[0].default.local.http.onRateLimit.status: Envoy responds with 429 instead of 200, which is not an error; use a status from 400`},
		"disabled": {In: "from", Conf: `{local: {http: {disabled: true}}}`, Want: ``},
	})
}
