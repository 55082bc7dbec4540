package resource_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

type placement struct {
	Spec struct {
		Clusters []string `json:"clusters,omitzero"`
	} `json:"spec,omitzero"`
}

type decision struct {
	Status struct {
		Decisions []string `json:"decisions"`
	} `json:"status"`
}

type rollout struct {
	Placement string `json:"placement"`
}

const clusters = "cluster.example"

func documentLoader() *resource.Loader {
	return &resource.Loader{Kinds: kinds.All(), Documents: []resource.DocumentType{
		resource.DocumentOf[placement](clusters, "Placement"),
		resource.DocumentOf[decision](clusters, "PlacementDecision"),
		resource.DocumentOf[rollout]("", "Rollout"),
		resource.UnusedDocument(clusters, "ManagedClusterSet"),
	}}
}

// Documents of registered types are decoded, in either spelling, next to the
// resources of a mesh.
func TestRegisteredDocuments(t *testing.T) {
	set, err := documentLoader().Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(`
apiVersion: v1
kind: List
items:
- {apiVersion: cluster.example/v1beta1, kind: Placement, metadata: {name: p, namespace: ops, uid: "1"}, spec: {clusters: [b]}, status: {conditions: []}}
- {apiVersion: cluster.example/v1, kind: Placement, metadata: {name: a, namespace: ops}, spec: {clusters: [a]}}
- {apiVersion: cluster.example/v1beta1, kind: PlacementDecision, metadata: {name: p}, status: {decisions: []}}
- {apiVersion: cluster.example/v1beta2, kind: ManagedClusterSet, metadata: {name: s}}
- {apiVersion: other.example/v1, kind: Placement, metadata: {name: s}}
---
{type: Rollout, name: r, placement: p, labels: {k8s.kuma.io/namespace: ops}, creationTime: "2026-01-01T00:00:00Z"}
---
{type: MeshHealthCheck, name: r, spec: {to: []}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for meta, p := range resource.DocumentsOf[placement](set) {
		got = append(got, meta.Namespace+"/"+meta.Name+" "+p.Spec.Clusters[0])
	}
	if diff := cmp.Diff([]string{"ops/a a", "ops/p b"}, got); diff != "" {
		t.Errorf("placements:\n%s", diff)
	}
	for meta, r := range resource.DocumentsOf[rollout](set) {
		got = append(got, meta.Kind, meta.Namespace, meta.Mesh, r.Placement)
	}
	for _, d := range resource.DocumentsOf[decision](set) {
		if d.Status.Decisions == nil {
			t.Error("an empty list of decisions is nil")
		}
		got = append(got, "decision")
	}
	if diff := cmp.Diff([]string{"Rollout", "ops", "", "p", "decision"}, got[2:]); diff != "" {
		t.Errorf("other documents:\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"ManagedClusterSet": 1, "Placement": 1}, set.Skipped); diff != "" {
		t.Errorf("skipped:\n%s", diff)
	}
	if len(set.Policies) != 1 {
		t.Errorf("%d policies", len(set.Policies))
	}
}

func TestRegisteredDocumentErrors(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"unknown kind of the group": {"{apiVersion: cluster.example/v1, kind: Placment, metadata: {name: p}}", `in.yaml:1:40: kind: unknown kind "Placment" of cluster.example; did you mean "Placement"?`},
		"name of a proposal":        {"{type: MeshHTTPFault, name: p}", `in.yaml:1:8: type: unknown kind "MeshHTTPFault"; use MeshFaultInjection`},
		"unknown type":              {"{type: Rolout, name: p}", `in.yaml:1:8: type: unknown kind "Rolout"; did you mean "Rollout"?`},
		"unknown field":             {"{apiVersion: cluster.example/v1, kind: Placement, metadata: {name: p}, spce: {}}", `in.yaml:1:72: spce: unknown field; did you mean "spec"?`},
		"missing field":             {"{type: Rollout, name: p, labels: 5}", "in.yaml:1:1: placement: required field is missing\nin.yaml:1:34: labels: must be a mapping, not the number 5"},
		"no name":                   {"{apiVersion: cluster.example/v1, kind: Placement, metadata: {}}", `in.yaml:1:61: metadata.name: required field is missing`},
		"no metadata":               {"{apiVersion: cluster.example/v1, kind: Placement}", `in.yaml:1:1: metadata: required field is missing`},
		"no apiVersion":             {"{kind: Placement, metadata: {name: p}, spec: {clusters: [a]}}", `in.yaml:1:1: apiVersion: required field is missing; a Placement has apiVersion: cluster.example/v1 and metadata: {name: NAME}`},
		"as a proposal writes it":   {"{kind: PlacementDecision, status: {}}", `in.yaml:1:1: apiVersion: required field is missing; a PlacementDecision has apiVersion: cluster.example/v1 and metadata: {name: NAME}`},
		"duplicate":                 {"{type: Rollout, name: p, placement: a}\n---\n{type: Rollout, name: p, placement: b}", `in.yaml:3:1: name: duplicate Rollout "p"; the first one is at in.yaml:1:1`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := documentLoader().Decode(t.Context(), resource.Input{Name: "in.yaml", Data: []byte(c.doc)})
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}
