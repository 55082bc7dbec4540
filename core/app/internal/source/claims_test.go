package source_test

import (
	"context"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// An object of Kubernetes has the identity of its own name and namespace, whatever fields its
// document has (SPEC 14.3).
func TestIdentityOfKubernetesObject(t *testing.T) {
	for _, c := range []struct {
		name, kind, document string
		fits                 bool
	}{
		{"a permission", "MeshTrafficPermission", `{"apiVersion": "kuma.io/v1alpha1", "kind": "MeshTrafficPermission", "metadata": {"name": "own", "namespace": "ns", "labels": {"kuma.io/mesh": "other"}}, "spec": {"rules": []}}`, true},
		{"a mesh", "Mesh", `{"apiVersion": "kuma.io/v1alpha1", "kind": "Mesh", "metadata": {"name": "own"}, "spec": {}}`, true},
		{"a secret", "Secret", `{"apiVersion": "v1", "kind": "Secret", "type": "system.kuma.io/secret", "metadata": {"name": "own", "namespace": "ns", "labels": {"kuma.io/mesh": "m"}}, "data": {"value": "YQ=="}}`, true},
		{"addresses of names", "ConfigMap", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kuma-m-dns-vips", "namespace": "ns"}, "data": {"config": "{}"}}`, true},
		{"a dataplane", "Dataplane", `{"apiVersion": "kuma.io/v1alpha1", "kind": "Dataplane", "mesh": "m", "metadata": {"name": "own", "namespace": "ns"}, "spec": {"networking": {"address": "10.0.0.1"}}}`, true},
		{"a cluster", "ManagedCluster", `{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster", "metadata": {"name": "own"}, "spec": {}}`, true},
		{"a placement", "Placement", `{"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement", "metadata": {"name": "own", "namespace": "ns"}, "spec": {}}`, true},
		{"a document of another name", "MeshTimeout", `{"apiVersion": "kuma.io/v1alpha1", "kind": "MeshTimeout", "metadata": {"name": "good", "namespace": "ns"}, "spec": {"to": [{"default": {"idleTimeout": "1s"}}]}}`, false},
		{"a document of the other spelling", "MeshTimeout", `{"type": "MeshTimeout", "name": "good", "labels": {"k8s.kuma.io/namespace": "ns"}, "spec": {"to": [{"default": {"idleTimeout": "1s"}}]}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory := sourcetest.NewMemory()
			id := resource.ID{Kind: c.kind, Namespace: "ns", Name: "own"}
			switch c.kind {
			case "Mesh", "ManagedCluster":
				id.Namespace = ""
			case "ConfigMap":
				id.Name = "kuma-m-dns-vips"
			}
			memory.PutObjects(source.Object{Key: "k", ID: id, AnyMesh: true, Data: []byte(c.document)})
			stored := &source.Stored{Store: memory, Loader: &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for update, err := range stored.Watch(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				read := 0
				for range source.Resources(update.Set) {
					read++
				}
				if fits := len(update.Invalid) == 0 && read == 1; fits != c.fits {
					t.Errorf("read are %d, invalid %v", read, update.Invalid)
				}
				break
			}
		})
	}
}
