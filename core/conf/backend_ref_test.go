package conf_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
)

func TestBackendRef(t *testing.T) {
	check[conf.BackendRef](t, cases{
		`{kind: MeshService, name: web}`:                                  `{"kind":"MeshService","name":"web"}`,
		`{kind: MeshServiceSubset, name: web, tags: {v: "*"}, weight: 0}`: `{"kind":"MeshServiceSubset","name":"web","tags":{"v":"*"},"weight":0}`,
		`{kind: MeshService, name: web, tags: {v: a}}`:                    `f:1:38: tags: do not belong to kind MeshService; remove them or use kind MeshServiceSubset`,
		`{kind: MeshServiceSubset, name: web}`:                            `f:1:1: tags: required field is missing for kind MeshServiceSubset`,
		`{kind: MeshServiceSubset, name: web, tags: {}}`:                  `f:1:44: tags: required field is missing for kind MeshServiceSubset`,
		`{kind: MeshSubset, name: web}`:                                   `f:1:8: kind: unknown value "MeshSubset"; one of "MeshService", "MeshServiceSubset", "MeshExternalService", "MeshMultiZoneService"`,
		`{kind: MeshService, name: "a b"}`:                                `f:1:27: name: bad service name "a b"; a service name has letters, digits, '.', '_', ':' and '-'`,
		`{kind: MeshService, name: web, namespace: shop, port: 80}`:       `{"kind":"MeshService","name":"web","namespace":"shop","port":80}`,
		`{kind: MeshExternalService, labels: {a: "b c"}}`:                 `{"kind":"MeshExternalService","labels":{"a":"b c"}}`,
		`{kind: MeshMultiZoneService, name: web, port: 80}`:               `{"kind":"MeshMultiZoneService","name":"web","port":80}`,
		`{kind: MeshService, port: 80}`:                                   `f:1:1: name: required field is missing; or give labels`,
		`{kind: MeshService, labels: {}}`:                                 `f:1:1: name: required field is missing; or give labels`,
		`{kind: MeshService, name: a, labels: {b: c}}`:                    `f:1:38: labels: a backend is found by name or by labels, not by both; use one of them`,
		`{kind: MeshService, namespace: a, labels: {b: c}}`:               `f:1:32: namespace: belongs to a name; use the label k8s.kuma.io/namespace`,
		`{kind: MeshServiceSubset, labels: {b: c}, tags: {d: e}}`:         `f:1:35: labels: do not belong to kind MeshServiceSubset; remove them or use kind MeshService`,
		`{kind: MeshExternalService, name: a, tags: {b: c}}`:              `f:1:44: tags: do not belong to kind MeshExternalService; remove them or use kind MeshServiceSubset`,
	})
}

func TestBackendRefShare(t *testing.T) {
	for name, c := range map[string]struct {
		weight *uint32
		want   uint32
	}{"absent": {nil, 1}, "zero": {new(uint32), 0}} {
		if got := (&conf.BackendRef{Weight: c.weight}).Share(); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}
