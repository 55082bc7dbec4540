package meshmetric_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf/conftest"
	"github.com/meshmatch/meshmatch/core/conf/meshmetric"
)

func TestAccepted(t *testing.T) {
	conftest.Accepted(t, meshmetric.Kind(), `
type: MeshMetric
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default, proxyTypes: [Sidecar]}
  default:
    sidecar:
      includeUnused: false
      profiles:
        appendProfiles: [{name: None}, {name: Basic}]
        exclude: [{type: Regex, match: "my_match.*"}, {type: Contains, match: cx}]
        include: [{type: Exact, match: up}, {type: Prefix, match: http_}]
    applications:
      - {port: 8888}
      - {name: app, path: /metrics, address: 127.0.0.1, port: 9000}
    backends:
      - type: Prometheus
        prometheus: {clientId: main, port: 5670, path: /metrics, tls: {mode: ProvidedTLS}}
      - {type: Prometheus}
      - type: OpenTelemetry
        openTelemetry: {endpoint: "[::1]:4317", refreshInterval: 30s}
      - type: OpenTelemetry
        openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, name: main}}
      - type: OpenTelemetry
        openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}
`)
}

func TestRejected(t *testing.T) {
	conftest.Rejected(t, meshmetric.Kind(), map[string]conftest.Case{
		"unknown profile": {
			Conf: `{sidecar: {profiles: {appendProfiles: [{name: all}]}}}`,
			Want: `p.yaml:2:47: spec.default.sidecar.profiles.appendProfiles[0].name: unknown value "all"; did you mean "All"?`,
		},
		"expression": {
			Conf: `{sidecar: {profiles: {exclude: [{type: Regex, match: "("}]}}}`,
			Want: "p.yaml:2:54: spec.default.sidecar.profiles.exclude[0].match: bad regular expression: error parsing regexp: missing closing ): `(`; write it in RE2's syntax",
		},
		"application without a port": {
			Conf: `{applications: [{name: app}]}`,
			Want: `p.yaml:2:17: spec.default.applications[0].port: required field is missing`,
		},
		"no port": {
			Conf: `{applications: [{port: 65536}]}`,
			Want: `p.yaml:2:24: spec.default.applications[0].port: must be a port, from 1 to 65535`,
		},
		"empty address": {
			Conf: `{applications: [{port: 1, address: ""}]}`,
			Want: `p.yaml:2:36: spec.default.applications[0].address: must not be empty; leave it out for the inbound's address`,
		},
		"backend of another type": {
			Conf: `{backends: [{type: Prometheus, openTelemetry: {endpoint: a}}]}`,
			Want: `p.yaml:2:47: spec.default.backends[0].openTelemetry: does not go with type "Prometheus"; remove it or change the type`,
		},
		"collector missing": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {refreshInterval: 1s}}]}`,
			Want: `p.yaml:2:50: spec.default.backends[0].openTelemetry.endpoint: required field is missing; or give a backendRef`,
		},
		"mode": {
			Conf: `{backends: [{type: Prometheus, prometheus: {tls: {mode: Provided}}}]}`,
			Want: `p.yaml:2:57: spec.default.backends[0].prometheus.tls.mode: unknown value "Provided"; did you mean "ProvidedTLS"?`,
		},
	})
}
