package meshtrace_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshtrace"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshtrace.Kind(), `
type: MeshTrace
mesh: default
name: zipkin
spec:
  targetRef: {kind: Mesh, name: default}
  default:
    backends:
      - type: Zipkin
        zipkin:
          url: http://zipkin.infra:9411/api/v2/spans
          traceId128bit: true
          apiVersion: httpProto
          sharedSpanContext: false
    sampling: {overall: 80, client: 60, random: "0.5"}
    tags:
      - {name: team, literal: core}
      - {name: env, header: {name: x-env, default: prod}}
      - {name: version, header: {name: x-version}}
`, `
type: MeshTrace
mesh: default
name: datadog
spec:
  targetRef: {kind: MeshGateway, name: edge}
  default:
    backends:
      - type: Datadog
        datadog: {url: "http://127.0.0.1:8126", splitService: true}
`, `
type: MeshTrace
mesh: default
name: open-telemetry
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    backends:
      - {type: OpenTelemetry, openTelemetry: {endpoint: "otel.infra:4317"}}
`, `
type: MeshTrace
mesh: default
name: open-telemetry-by-reference
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    backends:
      - type: OpenTelemetry
        openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, name: main}}
`, `
type: MeshTrace
mesh: default
name: by-labels
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    backends:
      - type: OpenTelemetry
        openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {a: b}}}
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshtrace.Kind(), map[string]kindtest.Case{
		"two backends": {
			Conf: `{backends: [{type: Zipkin, zipkin: {url: "http://a"}}, {type: Zipkin, zipkin: {url: "http://b"}}]}`,
			Want: `p.yaml:2:56: spec.default.backends[1]: only one backend is possible; remove it`,
		},
		"no URL": {
			Conf: `{backends: [{type: Zipkin, zipkin: {url: "zipkin:9411"}}]}`,
			Want: `p.yaml:2:42: spec.default.backends[0].zipkin.url: bad URL "zipkin:9411"; write http://host:port/path`,
		},
		"API version": {
			Conf: `{backends: [{type: Zipkin, zipkin: {url: "http://a", apiVersion: httpJSON}}]}`,
			Want: `p.yaml:2:66: spec.default.backends[0].zipkin.apiVersion: unknown value "httpJSON"; did you mean "httpJson"?`,
		},
		"path after the agent": {
			Conf: `{backends: [{type: Datadog, datadog: {url: "http://a:8126/v0.4"}}]}`,
			Want: `p.yaml:2:44: spec.default.backends[0].datadog.url: bad URL "http://a:8126/v0.4" of a Datadog agent; write http://host:port and nothing after it`,
		},
		"agent without a port": {
			Conf: `{backends: [{type: Datadog, datadog: {url: "http://a"}}]}`,
			Want: `p.yaml:2:44: spec.default.backends[0].datadog.url: bad URL "http://a" of a Datadog agent; write http://host:port and nothing after it`,
		},
		"bad endpoint": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {endpoint: "otel:http"}}]}`,
			Want: `p.yaml:2:61: spec.default.backends[0].openTelemetry.endpoint: bad endpoint "otel:http"; write host:port, such as collector.infra:4317, or http://host:port`,
		},
		"reference by nothing": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend}}}]}`,
			Want: `p.yaml:2:63: spec.default.backends[0].openTelemetry.backendRef.name: required field is missing; or give labels`,
		},
		"reference by name and labels": {
			Conf: `{backends: [{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, name: a, labels: {}}}}]}`,
			Want: `p.yaml:2:113: spec.default.backends[0].openTelemetry.backendRef.labels: a collector is found by name or by labels, not by both; use one of them`,
		},
		"sampling": {
			Conf: `{sampling: {random: 101}}`,
			Want: `p.yaml:2:21: spec.default.sampling.random: must be from 0 to 100`,
		},
		"tag without a value": {
			Conf: `{tags: [{name: a}]}`,
			Want: `p.yaml:2:9: spec.default.tags[0]: a tag must have a value; give literal or header`,
		},
		"tag with two values": {
			Conf: `{tags: [{name: a, literal: b, header: {name: c}}]}`,
			Want: `p.yaml:2:39: spec.default.tags[0].header: literal and header are both present; use one of them`,
		},
		"tag without a name": {
			Conf: `{tags: [{name: "", literal: ""}]}`,
			Want: `p.yaml:2:16: spec.default.tags[0].name: must not be empty
p.yaml:2:29: spec.default.tags[0].literal: must not be empty; remove the tag`,
		},
	})
}

func TestDefaults(t *testing.T) {
	kindtest.Completed(t, meshtrace.Kind(), map[string]kindtest.Case{
		"Zipkin":      {Conf: `{backends: [{type: Zipkin, zipkin: {url: "http://a"}}]}`, Want: `{"backends":[{"type":"Zipkin","zipkin":{"url":"http://a","traceId128bit":false,"apiVersion":"httpJson","sharedSpanContext":true}}]}`},
		"Zipkin, set": {Conf: `{backends: [{type: Zipkin, zipkin: {url: "http://a", traceId128bit: true, apiVersion: httpProto, sharedSpanContext: false}}]}`, Want: `{"backends":[{"type":"Zipkin","zipkin":{"url":"http://a","traceId128bit":true,"apiVersion":"httpProto","sharedSpanContext":false}}]}`},
		"Datadog":     {Conf: `{backends: [{type: Datadog, datadog: {url: "http://a:1"}}]}`, Want: `{"backends":[{"type":"Datadog","datadog":{"url":"http://a:1","splitService":false}}]}`},
	})
}

func TestWarned(t *testing.T) {
	kindtest.Warned(t, meshtrace.Kind(), map[string]kindtest.Case{
		"sampling":              {Conf: `{sampling: {}}`, Want: `p.yaml:2:12: spec.default.sampling: sets nothing; set a field, or remove it`},
		"sampling of something": {Conf: `{sampling: {client: 0}}`, Want: ``},
	})
}
