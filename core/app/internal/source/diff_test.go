package source

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Every list of resources of a set is compared: the resources of a forgotten list would never
// reach the engine of a watch.
func TestDiffComparesEveryList(t *testing.T) {
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Decode(context.Background(), resource.Input{Name: "all.yaml", Data: []byte(`
{type: Mesh, name: default}
---
{type: Dataplane, name: web, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}}
---
{type: MeshTimeout, name: t, spec: {to: [{default: {connectionTimeout: 1s}}]}}
---
{type: MeshService, name: api, spec: {selector: {dataplaneTags: {app: api}}, ports: [{port: 80}]}}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: default}
spec: {}
`)})
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	added, removed := Diff(nil, set), Diff(set, new(resource.Set))
	for i := range reflect.TypeFor[resource.Set]().NumField() {
		field := reflect.TypeFor[resource.Set]().Field(i)
		if field.Type.Kind() != reflect.Slice || slices.Contains([]string{"LeftOut", "NoResources", "Excluded", "Depending", "Warnings", "Ignores"}, field.Name) {
			continue
		}
		lists++
		if n := reflect.ValueOf(*set).Field(i).Len(); n != 1 {
			t.Errorf("the test has %d of %s", n, field.Name)
		}
		if reflect.ValueOf(*added.Upsert).Field(i).Len() != 1 {
			t.Errorf("%s are not compared", field.Name)
		}
		only := &resource.Set{}
		reflect.ValueOf(only).Elem().Field(i).Set(reflect.ValueOf(*set).Field(i))
		if batch := Diff(nil, only); isEmpty(&batch) {
			t.Errorf("a batch of %s is taken for empty", field.Name)
		}
	}
	if len(removed.Delete) != lists {
		t.Errorf("the deletion of %d resources has %d", lists, len(removed.Delete))
	}
	if batch := Diff(set, set); !isEmpty(&batch) {
		t.Errorf("the difference of equal sets is %+v", batch)
	}
}
