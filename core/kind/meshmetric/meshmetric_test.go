package meshmetric_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshmetric"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshmetric.Kind(), `
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
      - {port: 8888, path: stats}
      - {name: app, path: /metrics, address: 127.0.0.1, port: 9000}
    backends:
      - type: Prometheus
        prometheus: {clientId: main, port: 5670, path: /metrics, tls: {mode: ProvidedTLS}}
      - {type: Prometheus}
      - type: OpenTelemetry
        openTelemetry: {endpoint: "http://otel.infra:4317", refreshInterval: 30s}
      - type: OpenTelemetry
        openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, name: main}}
      - type: OpenTelemetry
        openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshmetric.Kind(), map[string]kindtest.Case{
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
			Want: `p.yaml:2:24: spec.default.applications[0].port: bad port 65536; a port is a number from 1 to 65535`,
		},
		"empty address": {
			Conf: `{applications: [{port: 1, address: ""}]}`,
			Want: `p.yaml:2:36: spec.default.applications[0].address: must not be empty; leave it out for the inbound's address`,
		},
		"backend of another type": {
			Conf: `{backends: [{type: Prometheus, openTelemetry: {endpoint: "a:1"}}]}`,
			Want: `p.yaml:2:47: spec.default.backends[0].openTelemetry: is not allowed with type "Prometheus"; remove it or change the type`,
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

func TestDefaults(t *testing.T) {
	kindtest.Completed(t, meshmetric.Kind(), map[string]kindtest.Case{
		"Prometheus":  {Conf: `{backends: [{type: Prometheus, prometheus: {tls: {}}}]}`, Want: `{"backends":[{"type":"Prometheus","prometheus":{"port":5670,"path":"/metrics","tls":{"mode":"Disabled"}}}]}`},
		"no TLS":      {Conf: `{backends: [{type: Prometheus, prometheus: {port: 1, path: /p}}]}`, Want: `{"backends":[{"type":"Prometheus","prometheus":{"port":1,"path":"/p"}}]}`},
		"application": {Conf: `{applications: [{port: 80}]}`, Want: `{"applications":[{"path":"/metrics/prometheus","port":80}]}`},
	})
}

func TestWarned(t *testing.T) {
	kindtest.Warned(t, meshmetric.Kind(), map[string]kindtest.Case{
		"sidecar":       {Conf: `{sidecar: {}}`, Want: `p.yaml:2:11: spec.default.sidecar: sets nothing; set a field, or remove it`},
		"profiles":      {Conf: `{sidecar: {profiles: {}}}`, Want: `p.yaml:2:22: spec.default.sidecar.profiles: sets nothing; set a field, or remove it`},
		"an empty list": {Conf: `{sidecar: {profiles: {include: []}}}`, Want: ``},
	})
}
