package conf_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

func TestCollectorRef(t *testing.T) {
	check[conf.CollectorRef](t, cases{
		`{kind: MeshOpenTelemetryBackend, name: otel}`:                 `{"kind":"MeshOpenTelemetryBackend","name":"otel"}`,
		`{kind: MeshOpenTelemetryBackend, labels: {a: b}}`:             `{"kind":"MeshOpenTelemetryBackend","labels":{"a":"b"}}`,
		`{kind: MeshOpenTelemetryBackend}`:                             `f:1:1: name: required field is missing; or give labels`,
		`{kind: MeshOpenTelemetryBackend, labels: {}}`:                 `f:1:1: name: required field is missing; or give labels`,
		`{kind: MeshOpenTelemetryBackend, name: ""}`:                   `f:1:40: name: must not be empty`,
		`{kind: MeshOpenTelemetryBackend, name: otel, labels: {a: b}}`: `f:1:54: labels: a collector is found by name or by labels, not by both; use one of them`,
		`{kind: MeshService, name: otel}`:                              `f:1:8: kind: unknown value "MeshService"; one of "MeshOpenTelemetryBackend"`,
	})
}

func TestValidateCollector(t *testing.T) {
	endpoint, ref := conf.Endpoint("otel:4317"), &conf.CollectorRef{}
	for _, test := range []struct {
		name     string
		endpoint *conf.Endpoint
		ref      *conf.CollectorRef
		want     string
	}{
		{"an endpoint", &endpoint, nil, ""},
		{"a reference", nil, ref, ""},
		{"neither", nil, nil, "endpoint: required field is missing; or give a backendRef"},
		{"both", &endpoint, ref, "backendRef: endpoint and backendRef are both present; use one of them"},
	} {
		if got := errorOf(func(at *diag.At) { conf.ValidateCollector(at, test.endpoint, test.ref) }); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
