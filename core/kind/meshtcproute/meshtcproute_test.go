package meshtcproute_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/meshtcproute"
)

func TestAccepted(t *testing.T) {
	kindtest.Accepted(t, meshtcproute.Kind(), `
type: MeshTCPRoute
mesh: default
name: everything
spec:
  targetRef: {kind: Mesh, name: default}
  to:
    - targetRef: {kind: MeshService, name: database}
      rules:
        - default:
            backendRefs:
              - {kind: MeshServiceSubset, name: database, tags: {version: v2}, weight: 10}
              - {kind: MeshService, name: database-old, port: 5432}
              - {kind: MeshService, name: database-old, namespace: shop}
              - {kind: MeshMultiZoneService, labels: {kuma.io/display-name: database}}
    - targetRef: {kind: MeshServiceSubset, name: database, tags: {version: v1}}
      rules: []
`)
}

func TestRejected(t *testing.T) {
	kindtest.Rejected(t, meshtcproute.Kind(), map[string]kindtest.Case{
		"two rules": {
			Conf: `rules: [{default: {backendRefs: [{kind: MeshService, name: a}]}}, {default: {backendRefs: [{kind: MeshService, name: b}]}}]`,
			Want: `p.yaml:2:67: spec.to[0].rules[1]: only one rule is possible; remove it`,
		},
		"matches": {
			Conf: `rules: [{matches: [], default: {backendRefs: [{kind: MeshService, name: a}]}}]`,
			Want: `p.yaml:2:10: spec.to[0].rules[0].matches: unknown field; one of "default"`,
		},
		"default missing": {
			Conf: `rules: [{}]`,
			Want: `p.yaml:2:9: spec.to[0].rules[0].default: required field is missing`,
		},
		"port": {
			Conf: `rules: [{default: {backendRefs: [{kind: MeshService, name: a, port: 0}]}}]`,
			Want: `p.yaml:2:69: spec.to[0].rules[0].default.backendRefs[0].port: bad port 0; a port is a number from 1 to 65535`,
		},
	})
}
