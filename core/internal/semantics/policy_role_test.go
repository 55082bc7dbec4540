package semantics_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The label determines the role. Without it, the role of a policy from Kubernetes is
// derived from the namespace and the `to` items: by names in Kuma 2, by labels in Kuma
// 3.
func TestRole(t *testing.T) {
	const conf = ", default: {connectionTimeout: 5s}}"
	item := func(ref string) string { return "{targetRef: {" + ref + "}" + conf }
	const (
		byName  = "kind: MeshService, name: a, namespace: shop"
		byLabel = "kind: MeshService, labels: {kuma.io/display-name: a, k8s.kuma.io/namespace: shop}"
	)
	for name, c := range map[string]struct{ metadata, to, kuma2, kuma3 string }{
		"label":                {"labels: {kuma.io/policy-role: producer}, namespace: shop", "", "producer", "producer"},
		"another label":        {"labels: {kuma.io/policy-role: owner}, namespace: shop", "", "error", "error"},
		"no namespace":         {"", item("kind: Mesh"), "system", "system"},
		"system namespace":     {"namespace: kuma-system", item("kind: Mesh"), "system", "system"},
		"without to":           {"namespace: shop", "", "workload-owner", "workload-owner"},
		"Mesh":                 {"namespace: shop", item("kind: Mesh"), "consumer", "consumer"},
		"by name":              {"namespace: shop", item(byName), "producer", "consumer"},
		"by name alone":        {"namespace: shop", item("kind: MeshService, name: a"), "producer", "consumer"},
		"of another namespace": {"namespace: other", item(byName), "consumer", "consumer"},
		"by labels":            {"namespace: shop", item(byLabel), "consumer", "producer"},
		"by further labels":    {"namespace: shop", item("kind: MeshService, labels: {kuma.io/display-name: a, b: c}"), "consumer", "consumer"},
		"route":                {"namespace: shop", item("kind: MeshHTTPRoute, name: a"), "producer", "consumer"},
		"mixed":                {"namespace: shop", item(byName) + ", " + item("kind: Mesh"), "error", "consumer"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "{apiVersion: kuma.io/v1alpha1, kind: MeshTimeout, metadata: {name: p, " + c.metadata + "}, spec: {rules: [], to: [" + c.to + "]}}"
			set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), resource.Input{Name: "p.yaml", Data: []byte(text)})
			if err != nil {
				t.Fatal(err)
			}
			for labelsOnly, want := range map[bool]string{false: c.kuma2, true: c.kuma3} {
				role, ok := semantics.RoleOf(set.Policies[0], labelsOnly)
				got := role.String()
				if !ok {
					got = "error"
				}
				if got != want {
					t.Errorf("labels only %t: got %s, want %s", labelsOnly, got, want)
				}
			}
		})
	}
}
