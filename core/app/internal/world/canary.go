package world

import (
	"context"
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/resource"
)

// canaryDataplanes is the number of dataplanes for which a change of the placement
// changes the action: two racks.
const canaryDataplanes = 2 * cohort

// The name and the namespace of the informational policy.
const canaryPolicy, canaryNamespace = "zz-canary", "canary"

// canary adds an informational policy for all dataplanes, and a binding that
// enforces it by a placement rule. The policy that earlier changes replaced then selects
// no dataplane: it would override the informational one.
func (w *world) canary() core.Batch {
	b := w.policy(canaryPolicy, resource.TargetRef{Kind: resource.TargetMesh}, 0)
	none := resource.TargetRef{Kind: resource.TargetDataplane, Labels: resource.Tags{{Key: rackLabel, Value: "none"}}}
	b.Upsert.Policies = append(b.Upsert.Policies, w.policy("zz-measured", none, 0).Upsert.Policies...)
	b.Upsert.Policies[0].Namespace = canaryNamespace
	b.Upsert.Policies[0].Labels = resource.Tags{{Key: "kuma.io/effect", Value: "shadow"}, {Key: resource.PolicyRoleLabel, Value: "system"}}
	b.Upsert.Documents = append(nowhere(w).Upsert.Documents, w.document(`
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: canary, namespace: canary}
bindingOverrides: {remediationAction: enforce}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: canary}
subjects:
  - {apiGroup: kuma.io, kind: MeshTimeout, name: zz-canary}
`)...)
	return b
}

// withoutCanary removes the informational policy, if there is one: while one selects all
// dataplanes, each class is evaluated twice, with and without it, and changes of other policies
// take up to twice as long.
func withoutCanary(w *world) core.Batch {
	var b core.Batch
	for _, p := range w.engine.View().Policies(shape.Mesh) {
		if p.Name == canaryPolicy && p.Namespace == canaryNamespace {
			b.Delete = append(b.Delete, p.ID)
		}
	}
	return b
}

// nowhere returns the placement rule that selects no dataplane.
func nowhere(w *world) core.Batch { return w.placement("[none]") }

// onTwoRacks returns the placement rule that selects canaryDataplanes dataplanes.
// They are in most classes of the world.
func onTwoRacks(w *world, _ int) core.Batch { return w.placement("[r0, r1]") }

// placement returns the placement rule for the dataplanes on some racks.
func (w *world) placement(racks string) core.Batch {
	return core.Batch{Upsert: &resource.Set{Documents: w.document(fmt.Sprintf(`
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: canary, namespace: canary}
spec:
  clusters: [{name: zone-0}, {name: zone-1}, {name: zone-2}, {name: zone-3}]
  dataplaneSelector:
    matchExpressions: [{key: %s, operator: In, values: %s}]
`, rackLabel, racks))}}
}

// document decodes a document of this file. It panics on an error.
func (w *world) document(text string) []*resource.Document {
	loader := resource.Loader{Kinds: w.kinds, Documents: ocm.Documents()}
	set, err := loader.Decode(context.Background(), resource.Input{Name: shape.Mesh, Data: []byte(text)})
	if err != nil {
		panic(err)
	}
	return set.Documents
}
