package resource_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Secret of Kubernetes is read if it is one of Kuma. An error does not show its content.
func TestKubernetesSecret(t *testing.T) {
	const form = `{apiVersion: v1, kind: Secret, type: TYPE, metadata: {name: ca, namespace: kuma-system, labels: {kuma.io/mesh: prod}}, data: {value: "VALUE"}}`
	load := func(kind, value string) (*resource.Set, error) {
		loader := &resource.Loader{Kinds: resource.NewKinds()}
		return loader.Decode(t.Context(), resource.Input{Name: "s.yaml", Data: []byte(strings.NewReplacer("TYPE", kind, "VALUE", value).Replace(form))})
	}
	set, err := load(resource.SecretType, "c2VjcmV0")
	if err != nil {
		t.Fatal(err)
	}
	secrets := resource.ObjectsOf[*resource.ObjectOf[specs.Secret]](set.Objects)
	if len(secrets) != 1 || secrets[0].Spec.Data.Text() != "secret" || secrets[0].Mesh != "prod" || secrets[0].Namespace != "kuma-system" {
		t.Errorf("read are %d Secrets", len(secrets))
	}
	if set, err = load("Opaque", "c2VjcmV0"); err != nil || len(set.Objects) != 0 || set.Skipped["Secret"] != 1 {
		t.Errorf("of another type: %d objects, %v, %v", len(set.Objects), set.Skipped, err)
	}
	if _, err = load(resource.SecretType, "#private#"); err == nil || strings.Contains(err.Error(), "private") || !strings.Contains(err.Error(), "data.value: bad base64") {
		t.Errorf("the error is %v", err)
	}
}
