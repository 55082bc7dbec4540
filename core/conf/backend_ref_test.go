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
		`{kind: MeshSubset, name: web}`:                                   `f:1:8: kind: unknown value "MeshSubset"; one of "MeshService", "MeshServiceSubset"`,
		`{kind: MeshService, name: "a b"}`:                                `f:1:27: name: bad service name "a b"; a service name has letters, digits, '.', '_', ':' and '-'`,
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
