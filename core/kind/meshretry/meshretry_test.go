package meshretry_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshretry"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshretry.Kind(), `
type: MeshRetry
mesh: default
name: everything
spec:
  targetRef: {kind: MeshTCPRoute, name: database}
  to:
    - targetRef: {kind: MeshService, name: backend}
      default:
        tcp: {maxConnectAttempt: 5}
        http:
          numRetries: 0
          perTryTimeout: 200ms
          backOff: {baseInterval: 25ms, maxInterval: 1s}
          rateLimitedBackOff:
            resetHeaders:
              - {name: Retry-After, format: Seconds}
              - {name: x-ratelimit-reset, format: UnixTimestamp}
            maxInterval: 5m
          retryOn: ["5xx", GatewayError, HttpMethodGet, "503"]
          retriableResponseHeaders:
            - {type: Exact, name: x-retry, value: "yes"}
            - {type: Present, name: x-retry-any}
          retriableRequestHeaders:
            - {name: x-may-retry, value: "1"}
          hostSelection:
            - {predicate: OmitPreviousHosts, updateFrequency: 2}
            - {predicate: OmitHostsWithTags, tags: {version: v2}, updateFrequency: 2}
            - {predicate: OmitPreviousPriorities, updateFrequency: 3}
          hostSelectionMaxAttempts: 3
        grpc:
          numRetries: 2
          perTryTimeout: 0s
          backOff: {maxInterval: 1s}
          rateLimitedBackOff: {resetHeaders: []}
          retryOn: [Canceled, DeadlineExceeded, Internal, ResourceExhausted, Unavailable]
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshretry.Kind(), map[string]kindtest.Case{
		"misspelt cause": {
			Conf: `{http: {retryOn: [GatewayErrors]}}`,
			Want: `p.yaml:2:19: spec.to[0].default.http.retryOn[0]: unknown value "GatewayErrors"; did you mean "GatewayError"?`,
		},
		"no status of HTTP": {
			Conf: `{http: {retryOn: ["5xx", "999"]}}`,
			Want: `p.yaml:2:26: spec.to[0].default.http.retryOn[1]: unknown value "999"; write a word such as "5xx" or GatewayError, or a status such as "503"`,
		},
		"no word": {
			Conf: `{http: {retryOn: [Something]}}`,
			Want: `p.yaml:2:19: spec.to[0].default.http.retryOn[0]: unknown value "Something"; write a word such as "5xx" or GatewayError, or a status such as "503"`,
		},
		"HTTP's cause for gRPC": {
			Conf: `{grpc: {retryOn: [Reset]}}`,
			Want: `p.yaml:2:19: spec.to[0].default.grpc.retryOn[0]: unknown value "Reset"; one of "Canceled", "DeadlineExceeded", "Internal", "ResourceExhausted", "Unavailable"`,
		},
		"no attempt": {
			Conf: `{tcp: {maxConnectAttempt: 0}}`,
			Want: `p.yaml:2:27: spec.to[0].default.tcp.maxConnectAttempt: must be at least 1`,
		},
		"zero back-off": {
			Conf: `{http: {backOff: {baseInterval: 0s}}}`,
			Want: `p.yaml:2:33: spec.to[0].default.http.backOff.baseInterval: must be longer than 0s`,
		},
		"shrinking back-off": {
			Conf: `{grpc: {backOff: {baseInterval: 2s, maxInterval: 1s}}}`,
			Want: `p.yaml:2:50: spec.to[0].default.grpc.backOff.maxInterval: must not be shorter than baseInterval (2s)`,
		},
		"header name": {
			Conf: `{http: {rateLimitedBackOff: {resetHeaders: [{name: "retry after", format: Seconds}]}}}`,
			Want: `p.yaml:2:52: spec.to[0].default.http.rateLimitedBackOff.resetHeaders[0].name: bad header name "retry after"; use letters, digits and -`,
		},
		"header match without a value": {
			Conf: `{http: {retriableRequestHeaders: [{name: x}]}}`,
			Want: `p.yaml:2:35: spec.to[0].default.http.retriableRequestHeaders[0].value: is required for type "Exact"`,
		},
		"priorities counted twice": {
			Conf: `{http: {hostSelection: [{predicate: OmitPreviousPriorities}, {predicate: OmitPreviousPriorities}]}}`,
			Want: `p.yaml:2:74: spec.to[0].default.http.hostSelection[1].predicate: OmitPreviousPriorities is allowed only once; remove one`,
		},
		"predicate without its tags": {
			Conf: `{http: {hostSelection: [{predicate: OmitHostsWithTags}]}}`,
			Want: `p.yaml:2:25: spec.to[0].default.http.hostSelection[0].tags: is required for OmitHostsWithTags`,
		},
		"tags of another predicate": {
			Conf: `{http: {hostSelection: [{predicate: OmitPreviousHosts, tags: {a: b}}]}}`,
			Want: `p.yaml:2:62: spec.to[0].default.http.hostSelection[0].tags: are not allowed with OmitPreviousHosts; remove them`,
		},
		"tag of a predicate": {
			Conf: `{http: {hostSelection: [{predicate: OmitHostsWithTags, tags: {a: "b c"}}]}}`,
			Want: `p.yaml:2:66: spec.to[0].default.http.hostSelection[0].tags.a: bad tag value "b c"; a tag's value has letters, digits, '.', '_', ':' and '-', or is * for any`,
		},
		"update frequency": {
			Conf: `{http: {hostSelection: [{predicate: OmitPreviousPriorities, updateFrequency: 0}]}}`,
			Want: `p.yaml:2:78: spec.to[0].default.http.hostSelection[0].updateFrequency: must be at least 1`,
		},
		"host selection attempts": {
			Conf: `{http: {hostSelectionMaxAttempts: -1}}`,
			Want: `p.yaml:2:35: spec.to[0].default.http.hostSelectionMaxAttempts: must be at least 1`,
		},
		"an empty back-off": {
			Conf: `{http: {backOff: {}}}`,
			Want: `p.yaml:2:18: spec.to[0].default.http.backOff: sets nothing; set a field, or remove it`,
		},
		"nothing for any protocol": {
			Conf: `{tcp: {}, http: {}, grpc: {}}`,
			Want: `p.yaml:2:7: spec.to[0].default.tcp: sets nothing; set a field, or remove it
p.yaml:2:17: spec.to[0].default.http: sets nothing; set a field, or remove it
p.yaml:2:27: spec.to[0].default.grpc: sets nothing; set a field, or remove it`,
		},
		"a rate-limited back-off without headers": {
			Conf: `{grpc: {rateLimitedBackOff: {maxInterval: 1s}}}`,
			Want: `p.yaml:2:29: spec.to[0].default.grpc.rateLimitedBackOff.resetHeaders: required field is missing; give the headers that contain the time to wait`,
		},
	})
}

func TestStatus(t *testing.T) {
	for cause, want := range map[meshretry.HTTPRetryOn]int{"503": 503, "5xx": 0, "Reset": 0, "999": 0} {
		status, ok := cause.Status()
		if ok != (want != 0) || ok && status != want {
			t.Errorf("%s: got %d, %t; want %d", cause, status, ok, want)
		}
	}
}

func TestWarned(t *testing.T) {
	kindtest.Warned(t, meshretry.Kind(), map[string]kindtest.Case{
		"an empty list": {Conf: `{http: {retryOn: []}}`, Want: ``},
	})
}

func TestDefaults(t *testing.T) {
	kindtest.Completed(t, meshretry.Kind(), map[string]kindtest.Case{
		"frequency": {Conf: `{http: {hostSelection: [{predicate: OmitPreviousPriorities}]}}`, Want: `{"http":{"hostSelection":[{"predicate":"OmitPreviousPriorities","updateFrequency":2}]}}`},
	})
}
