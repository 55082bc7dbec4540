package crd_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/crd"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// toJSON returns a YAML document as JSON.
func toJSON(text string) (json.RawMessage, error) {
	var tree any
	if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

func TestPlural(t *testing.T) {
	for kind, want := range map[string]string{
		"MeshTimeout": "meshtimeouts", "MeshTLS": "meshtlses", "MeshRetry": "meshretries", "Mesh": "meshes", "ZoneIngress": "zoneingresses",
		"MeshIdentity": "meshidentities", "MeshLoadBalancingStrategy": "meshloadbalancingstrategies", "MeshZoneAddress": "meshzoneaddresses",
		"Relay": "relays", "PolicySet": "policysets",
	} {
		if got := crd.Plural(kind); got != want {
			t.Errorf("Plural(%s) = %s, want %s", kind, got, want)
		}
	}
}

// Every kind that a loader reads on Kubernetes has a definition, and each of its schemas
// is complete: only the kinds' free-form values accept unknown fields.
func TestDefinitions(t *testing.T) {
	all := crd.Definitions(kinds.All(), ocm.Documents())
	var names []string
	for i := range all {
		names = append(names, all[i].Spec.Names.Kind)
		schema := all[i].Spec.Versions[0].Schema.OpenAPIV3Schema
		if spec, ok := schema["properties"].(map[string]any)["spec"].(map[string]any); ok && spec["x-kubernetes-preserve-unknown-fields"] != nil {
			t.Errorf("%s: nothing is known of the spec", all[i].Metadata.Name)
		}
	}
	want := slices.Concat(kinds.All().Names(), []string{"Mesh", "Dataplane", "MeshIdentity", "MeshTrust", "MeshService", "MeshExternalService", "MeshMultiZoneService", "AccessTest", "Policy", "PlacementRule", "PlacementBinding", "ManagedCluster"})
	for _, name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("%s has no definition", name)
		}
	}
	first, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(crd.Definitions(kinds.All(), ocm.Documents())); !bytes.Equal(first, again) {
		t.Error("the definitions differ in a second run")
	}
}

// An embedder's kind whose Conf has no generated schema accepts any conf.
func TestKindWithoutSchema(t *testing.T) {
	kind := &resource.Kind{Name: "Quota", Short: "q", Top: resource.TopTargets, Default: &resource.Section{Conf: resource.ConfOf[plain, plainMerger]()}}
	schema := kind.SpecSchema()["properties"].(map[string]any)["default"].(map[string]any)
	if schema["x-kubernetes-preserve-unknown-fields"] != true {
		t.Errorf("the schema is %v", schema)
	}
}
