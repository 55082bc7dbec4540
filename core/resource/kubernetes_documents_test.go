package resource_test

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

//go:embed testdata/kubernetes-policies.yaml
var kindsYAML []byte

// kubernetesPolicies returns n policies as an API server of Kubernetes sends them, as trees:
// one of each kind in turn, each about as long as the documentation of Kuma has it, with all
// metadata that the server adds.
func kubernetesPolicies(n int) ([]map[string]any, error) {
	var examples []map[string]any
	for decoder := yaml.NewDecoder(bytes.NewReader(kindsYAML)); ; {
		var example map[string]any
		err := decoder.Decode(&example)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("kubernetes-policies.yaml: %w", err)
		}
		examples = append(examples, example)
	}
	objects := make([]map[string]any, n)
	for i := range objects {
		example := examples[i%len(examples)]
		objects[i] = map[string]any{
			"apiVersion": resource.KumaGroup + "/" + resource.KumaVersion, "kind": example["kind"],
			"metadata": kubernetesMetadata(i), "spec": example["spec"],
		}
	}
	return objects, nil
}

// kubernetesMetadata returns the metadata of an object that was applied once.
func kubernetesMetadata(i int) map[string]any {
	const created = "2026-11-02T08:15:30Z"
	return map[string]any{
		"name": fmt.Sprintf("policy-%06d", i), "namespace": resource.SystemNamespace,
		"uid":             fmt.Sprintf("6f1c1d0e-5a77-4d5c-9a70-%012d", i),
		"resourceVersion": fmt.Sprint(100_000 + i), "generation": 1, "creationTimestamp": created,
		"labels": map[string]any{
			resource.MeshLabel: shape.Mesh, "kuma.io/origin": "zone", resource.ZoneTag: fmt.Sprintf("zone-%d", i%4),
			"kuma.io/policy-role": "system", "kuma.io/env": "kubernetes", "k8s.kuma.io/namespace": resource.SystemNamespace,
		},
		"managedFields": []any{map[string]any{
			"apiVersion": "kuma.io/v1alpha1", "fieldsType": "FieldsV1", "manager": "kubectl-client-side-apply", "operation": "Update", "time": created,
			"fieldsV1": map[string]any{
				"f:metadata": map[string]any{"f:labels": map[string]any{".": map[string]any{}, "f:" + resource.MeshLabel: map[string]any{}}},
				"f:spec":     map[string]any{".": map[string]any{}, "f:targetRef": map[string]any{".": map[string]any{}, "f:kind": map[string]any{}}},
			},
		}},
	}
}
