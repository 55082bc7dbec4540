package enforce_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// placed is a policy that a rule places on the clusters of region a.
const placed = `
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: policy, namespace: ns}
spec: {remediationAction: inform}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: binding, namespace: ns}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: rule}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: policy}]
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: rule, namespace: ns}
spec: {clusterSelector: {matchLabels: {region: a}}}
` + eastAndWest

// The targets of a policy follow the clusters, one commit after the other, in the order of
// their names.
func TestEditing(t *testing.T) {
	state := stateOf(load(t, placed))
	cluster := func(name, region string) ocm.Resource {
		text := "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: " + name + ", labels: {region: " + region + "}}\n"
		return load(t, text).ManagedClusters[0]
	}
	for _, step := range []struct {
		name string
		edit func(*enforce.Editor)
		want string
	}{
		{"nothing", func(*enforce.Editor) {}, "east inform binding\n"},
		{"another label of a cluster", func(e *enforce.Editor) { e.Put(cluster("west", "a")) }, "east inform binding\nwest inform binding\n"},
		{"a new cluster", func(e *enforce.Editor) { e.Put(cluster("central", "a")) }, "central inform binding\neast inform binding\nwest inform binding\n"},
		{"a cluster is removed", func(e *enforce.Editor) { e.Remove(resource.ID{Kind: ocm.ManagedClusterKind, Name: "east"}) }, "central inform binding\nwest inform binding\n"},
		{"it comes back", func(e *enforce.Editor) { e.Put(cluster("east", "a")) }, "central inform binding\neast inform binding\nwest inform binding\n"},
		{"the policy is removed", func(e *enforce.Editor) { e.Remove(resource.ID{Kind: ocm.PolicyKind, Namespace: "ns", Name: "policy"}) }, ""},
	} {
		e := state.Edit()
		step.edit(e)
		state, _ = e.Commit()
		if diff := cmp.Diff(step.want, targets(state, "ns", "policy")); diff != "" {
			t.Errorf("%s: -want +got\n%s", step.name, diff)
		}
	}
}
