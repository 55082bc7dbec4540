package kinds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestEmptyContent checks which empty content of each kind is an error (SPEC 1.4). want
// is the only error, from its path on, or a part of it; if want is empty, the policy is
// accepted.
func TestEmptyContent(t *testing.T) {
	const (
		needsTo    = "spec: the policy has no items"
		needsField = ": sets nothing; set a field, or remove it"
	)
	for _, c := range []struct{ Kind, Spec, Want string }{
		// A policy without any of its arrays.
		{"MeshTimeout", "{}", needsTo},
		{"MeshTimeout", "{targetRef: {kind: Mesh}}", needsTo},
		{"MeshTimeout", "{to: []}", needsTo},
		{"MeshTimeout", "{to: [], from: []}", needsTo},
		{"MeshTimeout", "{rules: []}", ""}, // SPEC 5.6
		{"MeshRetry", "{}", needsTo},
		{"MeshRetry", "{to: []}", needsTo},
		{"MeshCircuitBreaker", "{}", needsTo},
		{"MeshCircuitBreaker", "{from: []}", needsTo},
		{"MeshAccessLog", "{}", needsTo},
		{"MeshAccessLog", "{to: []}", needsTo},
		{"MeshTrafficPermission", "{}", needsTo},
		{"MeshTrafficPermission", "{from: []}", needsTo},
		{"MeshTrafficPermission", "{rules: []}", ""},
		{"MeshHealthCheck", "{}", needsTo},
		{"MeshHealthCheck", "{to: []}", ""},
		{"MeshRateLimit", "{}", needsTo},
		{"MeshRateLimit", "{from: []}", ""},
		{"MeshFaultInjection", "{}", needsTo},
		{"MeshFaultInjection", "{rules: []}", ""},
		{"MeshTLS", "{}", needsTo},
		{"MeshTLS", "{from: []}", ""},
		{"MeshLoadBalancingStrategy", "{}", needsTo},
		{"MeshLoadBalancingStrategy", "{to: []}", ""},
		{"MeshHTTPRoute", "{}", needsTo},
		{"MeshHTTPRoute", "{to: []}", ""},
		{"MeshTCPRoute", "{}", needsTo},
		{"MeshTCPRoute", "{to: []}", ""},
		{"MeshTrace", "{}", "spec.default: required field is missing"},
		{"MeshMetric", "{}", "spec.default: required field is missing"},
		{"MeshProxyPatch", "{}", "spec.default: required field is missing"},
		{"MeshPassthrough", "{}", "spec.default: required field is missing"},

		// A conf without fields.
		{"MeshTimeout", "{to: [{default: {}}]}", "spec.to[0].default" + needsField},
		{"MeshTimeout", "{from: [{default: {}}]}", "spec.from[0].default" + needsField},
		{"MeshTimeout", "{rules: [{default: {}}]}", "spec.rules[0].default" + needsField},
		{"MeshTimeout", "{default: {}}", "spec.default" + needsField},
		{"MeshRetry", "{to: [{default: {}}]}", "spec.to[0].default" + needsField},
		{"MeshCircuitBreaker", "{rules: [{default: {}}]}", "spec.rules[0].default" + needsField},
		{"MeshHealthCheck", "{to: [{default: {}}]}", "spec.to[0].default" + needsField},
		{"MeshRateLimit", "{from: [{default: {}}]}", "spec.from[0].default" + needsField},
		{"MeshAccessLog", "{to: [{default: {}}]}", "spec.to[0].default" + needsField},
		{"MeshProxyPatch", "{default: {}}", "spec.default.appendModifications: must not be empty"},
		{"MeshFaultInjection", "{rules: [{default: {}}]}", ""},
		{"MeshTLS", "{rules: [{default: {}}]}", ""},
		{"MeshLoadBalancingStrategy", "{to: [{default: {}}]}", ""},
		{"MeshMetric", "{default: {}}", ""},
		{"MeshPassthrough", "{default: {}}", ""},
		{"MeshTrace", "{default: {}}", ""},
		{"MeshTrafficPermission", "{from: [{default: {}}]}", ""}, // SPEC 7.6
		{"MeshTrafficPermission", "{rules: [{default: {}}]}", ""},

		// An object without fields in a conf.
		{"MeshTimeout", "{to: [{default: {http: {}}}]}", "spec.to[0].default.http" + needsField},
		{"MeshRetry", "{to: [{default: {tcp: {}}}]}", "spec.to[0].default.tcp" + needsField},
		{"MeshRetry", "{to: [{default: {http: {}}}]}", "spec.to[0].default.http" + needsField},
		{"MeshRetry", "{to: [{default: {grpc: {}}}]}", "spec.to[0].default.grpc" + needsField},
		{"MeshRetry", "{to: [{default: {http: {backOff: {}}}}]}", "spec.to[0].default.http.backOff" + needsField},
		{"MeshRetry", "{to: [{default: {grpc: {backOff: {}}}}]}", "spec.to[0].default.grpc.backOff" + needsField},
		{"MeshRetry", "{to: [{default: {grpc: {rateLimitedBackOff: {}}}}]}", "spec.to[0].default.grpc.rateLimitedBackOff.resetHeaders: required field is missing"},
		{"MeshRetry", "{to: [{default: {http: {rateLimitedBackOff: {maxInterval: 1s}}}}]}", "spec.to[0].default.http.rateLimitedBackOff.resetHeaders: required field is missing"},
		{"MeshRetry", "{to: [{default: {http: {retryOn: []}}}]}", ""}, // SPEC 6
		{"MeshCircuitBreaker", "{to: [{default: {outlierDetection: {}}}]}", "spec.to[0].default.outlierDetection.detectors: required field is missing"},
		{"MeshCircuitBreaker", "{to: [{default: {outlierDetection: {interval: 5s}}}]}", "spec.to[0].default.outlierDetection.detectors: required field is missing"},
		{"MeshCircuitBreaker", "{to: [{default: {outlierDetection: {detectors: {}}}}]}", "spec.to[0].default.outlierDetection.detectors" + needsField},
		{"MeshCircuitBreaker", "{to: [{default: {outlierDetection: {disabled: true}}}]}", ""},
		{"MeshCircuitBreaker", "{to: [{default: {outlierDetection: {healthyPanicThreshold: 5}}}]}", ""},
		{"MeshCircuitBreaker", "{to: [{default: {outlierDetection: {detectors: {totalFailures: {}}}}}]}", ""},
		{"MeshCircuitBreaker", "{to: [{default: {connectionLimits: {}}}]}", ""},
		{"MeshHealthCheck", "{to: [{default: {tcp: {}, http: {}, grpc: {}}}]}", ""},
		{"MeshRateLimit", "{rules: [{default: {local: {}}}]}", "spec.rules[0].default.local" + needsField},
		{"MeshRateLimit", "{rules: [{default: {local: {http: {}}}}]}", "spec.rules[0].default.local.http" + needsField},
		{"MeshRateLimit", "{rules: [{default: {local: {tcp: {}}}}]}", "spec.rules[0].default.local.tcp" + needsField},
		{"MeshRateLimit", "{rules: [{default: {local: {http: {onRateLimit: {}}}}}]}", ""},
		{"MeshAccessLog", "{to: [{default: {backends: []}}]}", ""}, // SPEC 6
		{"MeshAccessLog", "{to: [{default: {backends: [{type: File, file: {path: /a, format: {type: Json, json: []}}}]}}]}", "format.json: must not be empty"},
		{"MeshAccessLog", "{to: [{default: {backends: [{type: File, file: {path: /a, format: {type: Plain, plain: ''}}}]}}]}", "format.plain: must not be empty"},
		{"MeshFaultInjection", "{rules: [{default: {http: []}}]}", ""},
		{"MeshTrace", "{default: {backends: []}}", ""},
		{"MeshProxyPatch", "{default: {appendModifications: []}}", "spec.default.appendModifications: must not be empty"},
		{"MeshProxyPatch", "{default: {appendModifications: [{}]}}", "appendModifications[0]: a modification must change something"},
		{"MeshPassthrough", "{default: {appendMatch: []}}", ""},
		{"MeshLoadBalancingStrategy", "{to: [{default: {localityAwareness: {crossZone: {failover: []}}}}]}", ""},
		{"MeshLoadBalancingStrategy", "{to: [{default: {localityAwareness: {crossZone: {failover: [{from: {zones: []}, to: {type: Any}}]}}}}]}", "from.zones: must not be empty"},
		{"MeshLoadBalancingStrategy", "{to: [{default: {localityAwareness: {crossZone: {failover: [{to: {type: Only, zones: []}}]}}}}]}", "to.zones: must not be empty"},
		{"MeshHTTPRoute", "{to: [{targetRef: {kind: MeshService, name: a}, rules: []}]}", ""}, // SPEC 6
		{"MeshHTTPRoute", "{to: [{targetRef: {kind: MeshService, name: a}, rules: [{matches: [], default: {}}]}]}", "spec.to[0].rules[0].matches: must not be empty"},
		{"MeshHTTPRoute", "{to: [{targetRef: {kind: MeshService, name: a}, rules: [{matches: [{}], default: {filters: [{type: RequestHeaderModifier, requestHeaderModifier: {}}]}}]}]}", "requestHeaderModifier: must change a header"},
		{"MeshTCPRoute", "{to: [{targetRef: {kind: MeshService, name: a}, rules: [{default: {}}]}]}", "spec.to[0].rules[0].default.backendRefs: must not be empty"},
		{"MeshTCPRoute", "{to: [{targetRef: {kind: MeshService, name: a}, rules: [{default: {backendRefs: []}}]}]}", "spec.to[0].rules[0].default.backendRefs: must not be empty"},
	} {
		loader := resource.Loader{Kinds: kinds.All(), As: diag.AsTargetRef}
		document := fmt.Sprintf("{type: %s, mesh: default, name: p, spec: %s}", c.Kind, c.Spec)
		_, err := loader.Decode(t.Context(), resource.Input{Name: "p.yaml", Data: []byte(document)})
		switch {
		case err == nil && c.Want != "":
			t.Errorf("%s\naccepted, want %s", document, c.Want)
		case err != nil && (c.Want == "" || strings.Count(err.Error(), "\n") > 0 || !strings.Contains(err.Error(), c.Want)):
			t.Errorf("%s\ngot  %v\nwant %s", document, err, c.Want)
		}
	}
}
