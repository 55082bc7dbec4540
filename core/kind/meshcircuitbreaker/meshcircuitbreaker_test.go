package meshcircuitbreaker_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshcircuitbreaker"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshcircuitbreaker.Kind(), `
type: MeshCircuitBreaker
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  to:
    - targetRef: {kind: Mesh, name: default}
      default:
        connectionLimits:
          maxConnections: 2
          maxConnectionPools: 5
          maxPendingRequests: 10
          maxRetries: 3
          maxRequests: 4294967295
        outlierDetection:
          disabled: false
          interval: 5s
          baseEjectionTime: 30s
          maxEjectionPercent: 20
          splitExternalAndLocalErrors: true
          healthyPanicThreshold: "62.5"
          detectors:
            totalFailures: {consecutive: 10}
            gatewayFailures: {consecutive: 10}
            localOriginFailures: {}
            successRate: {minimumHosts: 5, requestVolume: 10, standardDeviationFactor: "1.9"}
            failurePercentage: {minimumHosts: 5, requestVolume: 10, threshold: 85}
  from:
    - targetRef: {kind: MeshService, name: web}
      default: {connectionLimits: {maxConnections: 1}}
`, `
type: MeshCircuitBreaker
mesh: default
name: of-an-inbound
spec:
  targetRef: {kind: Dataplane, labels: {app: web}, sectionName: http}
  rules:
    - default: {outlierDetection: {disabled: true}}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshcircuitbreaker.Kind(), map[string]kindtest.Case{
		"no connection": {
			Conf: `{connectionLimits: {maxConnections: 0}}`,
			Want: `p.yaml:2:37: spec.to[0].default.connectionLimits.maxConnections: must be at least 1`,
		},
		"negative": {
			Conf: `{connectionLimits: {maxRetries: -1}}`,
			Want: `p.yaml:2:33: spec.to[0].default.connectionLimits.maxRetries: -1 is out of range (uint32)`,
		},
		"more than everything": {
			In:   "from",
			Conf: `{outlierDetection: {detectors: {totalFailures: {}}, maxEjectionPercent: 101}}`,
			Want: `p.yaml:2:73: spec.from[0].default.outlierDetection.maxEjectionPercent: must be from 0 to 100`,
		},
		"panic threshold": {
			In:   "rules",
			Conf: `{outlierDetection: {detectors: {totalFailures: {}}, healthyPanicThreshold: "100.5"}}`,
			Want: `p.yaml:2:76: spec.rules[0].default.outlierDetection.healthyPanicThreshold: must be from 0 to 100`,
		},
		"zero interval": {
			Conf: `{outlierDetection: {detectors: {totalFailures: {}}, interval: 0s}}`,
			Want: `p.yaml:2:63: spec.to[0].default.outlierDetection.interval: must be longer than 0s`,
		},
		"deviation factor": {
			Conf: `{outlierDetection: {detectors: {successRate: {standardDeviationFactor: 0}}}}`,
			Want: `p.yaml:2:72: spec.to[0].default.outlierDetection.detectors.successRate.standardDeviationFactor: must be greater than 0`,
		},
		"fraction without quotes": {
			Conf: `{outlierDetection: {detectors: {successRate: {standardDeviationFactor: 1.9}}}}`,
			Want: `p.yaml:2:72: spec.to[0].default.outlierDetection.detectors.successRate.standardDeviationFactor: a number with a fraction must be in quotes; write "1.9"`,
		},
		"misspelt detector": {
			Conf: `{outlierDetection: {detectors: {totalFailure: {consecutive: 1}}}}`,
			Want: `p.yaml:2:33: spec.to[0].default.outlierDetection.detectors.totalFailure: unknown field; did you mean "totalFailures"?`,
		},
		"no detectors": {
			Conf: `{outlierDetection: {interval: 5s}}`,
			Want: `p.yaml:2:20: spec.to[0].default.outlierDetection.detectors: required field is missing; without detectors no endpoint is ejected`,
		},
		"empty detectors": {
			Conf: `{outlierDetection: {detectors: {}}}`,
			Want: `p.yaml:2:32: spec.to[0].default.outlierDetection.detectors: sets nothing; set a field, or remove it`,
		},
	})
}

func TestWarned(t *testing.T) {
	kindtest.Warned(t, meshcircuitbreaker.Kind(), map[string]kindtest.Case{
		"no limits":       {Conf: `{connectionLimits: {}}`, Want: `p.yaml:2:20: spec.to[0].default.connectionLimits: sets nothing; set a field, or remove it`},
		"disabled":        {Conf: `{outlierDetection: {disabled: true}}`, Want: ``},
		"threshold alone": {Conf: `{outlierDetection: {healthyPanicThreshold: 5}}`, Want: ``},
		"a detector":      {Conf: `{outlierDetection: {detectors: {totalFailures: {}}}}`, Want: ``},
	})
}
