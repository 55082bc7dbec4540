package stories

// tracing is a MeshTrace with one backend.
func tracing(backend string) string {
	return shop + `
type: MeshTrace
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    backends: [` + backend + `]
    tags:
    - {name: team, literal: shop}
    - {name: user, header: {name: x-user, default: none}}
`
}

var meshTraceStories = []story{{
	kind: "MeshTrace", name: "Zipkin", mesh: tracing(`{type: Zipkin, zipkin: {url: "http://127.0.0.100:4317/api/v2/spans", apiVersion: httpJson}}`),
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/", header("x-user", "ann")), "200 cart-1", "200 cart-1"},
		{"its spans", eventually("shop", collectedSpans("team")), "shop", ""},
		{"with a header", collectedSpans("user"), "ann", ""},
	},
}, {
	kind: "MeshTrace", name: "OpenTelemetry", mesh: tracing(`{type: OpenTelemetry, openTelemetry: {endpoint: "127.0.0.100:4317"}}`),
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"its spans", eventually("shop", collectedSpans("team")), "shop", ""},
		{"without the header", collectedSpans("user"), "none", ""},
		{"the mesh", collectedSpans("mesh"), "default", ""},
		{"the zone", collectedSpans("zone"), "east", ""},
	},
}, {
	kind: "MeshTrace", name: "OpenTelemetry over HTTP", mesh: tracing(`{type: OpenTelemetry, openTelemetry: {endpoint: "http://127.0.0.100:4317"}}`),
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"its spans", eventually("shop", collectedSpans("team")), "shop", ""},
	},
}, {
	kind: "MeshTrace", name: "a MeshOpenTelemetryBackend", mesh: tracing(`{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}}`) + `---
{type: MeshOpenTelemetryBackend, name: otel, labels: {team: infra}, spec: {endpoint: {address: 127.0.0.100}}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"its spans", eventually("shop", collectedSpans("team")), "shop", ""},
	},
}, {
	kind: "MeshTrace", name: "a MeshOpenTelemetryBackend over HTTP", mesh: tracing(`{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, name: otel}}}`) + `---
{type: MeshOpenTelemetryBackend, name: otel, spec: {endpoint: {address: 127.0.0.100, port: 4317, path: /}, protocol: http}}
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"its spans", eventually("shop", collectedSpans("team")), "shop", ""},
	},
}, {
	kind: "MeshTrace", name: "Datadog", mesh: tracing(`{type: Datadog, datadog: {url: "http://127.0.0.100:4317"}}`),
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/"), "200 cart-1", "200 cart-1"},
		{"its spans", eventually("traces", datadogTraces), "traces", "none"},
	},
}, {
	kind: "MeshTrace", name: "sampling", mesh: shop + `
type: MeshTrace
mesh: default
name: web
spec:
  targetRef: {kind: MeshService, name: web}
  default:
    backends: [{type: Zipkin, zipkin: {url: "http://127.0.0.100:4317/api/v2/spans", apiVersion: httpJson}}]
    sampling: {random: 0, client: 100, overall: 100}
    tags: [{name: user, header: {name: x-user, default: none}}]
`,
	proxies: []string{"web"},
	steps: []step{
		{"a request", get("127.0.0.1:10004/", header("x-user", "ann")), "200 cart-1", "200 cart-1"},
		{"a request that asks for a trace", get("127.0.0.1:10004/", header("x-user", "bob"), header("x-client-trace-id", "1")), "200 cart-1", "200 cart-1"},
		{"spans", eventually("bob", collectedSpans("user")), "bob", ""},
	},
}}

// datadogTraces is a step that returns whether Datadog got traces.
func datadogTraces(w *world) string {
	if w.collector.DatadogTraces() > 0 {
		return "traces"
	}
	return "none"
}
