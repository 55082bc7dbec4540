package resource_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
)

func TestNewKindsRefuses(t *testing.T) {
	kind := func(change func(*resource.Kind)) *resource.Kind {
		k := &resource.Kind{
			Name: "A", Short: "a", Top: resource.TopTargets,
			To:   &resource.Section{Targets: resource.ToTargets | resource.Targets(resource.TargetMeshSubset, resource.TargetMeshTCPRoute)},
			From: &resource.Section{Targets: resource.FromTargets},
		}
		change(k)
		return k
	}
	same := kind(func(*resource.Kind) {})
	for want, kinds := range map[string][]*resource.Kind{
		"":                                {same, kind(func(k *resource.Kind) { k.Name, k.Short = "B", "b" })},
		"resource: kind A is there twice": {same, kind(func(k *resource.Kind) { k.Short = "b" })},
		`resource: kind B has the short name "a" of kind A`:                         {same, kind(func(k *resource.Kind) { k.Name = "B" })},
		"resource: kind C has no short name: set Short, such as mt for MeshTimeout": {kind(func(k *resource.Kind) { k.Name, k.Short = "C", "" })},
		"resource: kind  has no unique name":                                        {kind(func(k *resource.Kind) { k.Name = "" })},
		`resource: kind D has the short name "dp" of kind Dataplane`:                {kind(func(k *resource.Kind) { k.Name, k.Short = "D", "dp" })},
		"resource: kind Mesh has no unique name":                                    {kind(func(k *resource.Kind) { k.Name = "Mesh" })},
		"resource: kind Dataplane has no unique name":                               {kind(func(k *resource.Kind) { k.Name = "Dataplane" })},
		"resource: kind A has arrays next to a default":                             {kind(func(k *resource.Kind) { k.Default = &resource.Section{} })},
		"resource: kind A selects outbounds by Dataplane, MeshGateway": {kind(func(k *resource.Kind) {
			k.To = &resource.Section{Targets: resource.TopTargets}
		})},
		"resource: kind A selects clients by MeshExternalService, MeshMultiZoneService, MeshHTTPRoute": {kind(func(k *resource.Kind) {
			k.From = &resource.Section{Targets: resource.ToTargets}
		})},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				got := ""
				if cause := recover(); cause != nil {
					got = fmt.Sprint(cause)
				}
				if got != want {
					t.Errorf("got the panic %q", got)
				}
			}()
			resource.NewKinds(kinds...)
		})
	}
}
