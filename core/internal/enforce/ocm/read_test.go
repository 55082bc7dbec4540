package ocm_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Each document becomes a resource with its fields (SPEC 8.1, 8.6).
func TestRead(t *testing.T) {
	meta := func(kind, namespace, name string) resource.Meta {
		return resource.Meta{ID: resource.ID{Kind: kind, Namespace: namespace, Name: name}}
	}
	selector := &ocm.LabelSelector{
		Labels: resource.Tags{{Key: "env", Value: "prod"}},
		Expressions: []ocm.Requirement{
			{Key: "gpu", Operator: ocm.Exists},
			{Key: "region", Operator: ocm.NotIn, Values: []string{"eu", "us"}},
		},
	}
	hour := time.Hour
	for _, test := range []struct {
		name, text string
		want       ocm.Resources
	}{
		{"a policy", policy + "spec: {remediationAction: Enforce, disabled: true}", ocm.Resources{Policies: []*ocm.Policy{
			{Meta: meta("Policy", "", "p"), Action: ocm.Enforce, Disabled: true},
		}}},
		{"a policy without an action", policy + "spec: {}", ocm.Resources{Policies: []*ocm.Policy{{Meta: meta("Policy", "", "p")}}}},
		{"a set", `
apiVersion: policy.open-cluster-management.io/v1beta1
kind: PolicySet
metadata: {name: s, namespace: ns}
spec: {policies: [p, q], exclusions: [{policyName: p, reason: old, clusterNames: [a, b]}]}`, ocm.Resources{PolicySets: []*ocm.PolicySet{{
			Meta: meta("PolicySet", "ns", "s"), Policies: []string{"p", "q"}, Exclusions: []ocm.Exclusion{{Policy: "p", Clusters: []string{"a", "b"}}},
		}}}},
		{"a binding", binding, ocm.Resources{PlacementBindings: []*ocm.PlacementBinding{{
			Meta: meta("PlacementBinding", "", "b"), Placement: ocm.Ref{Kind: "PlacementRule", Name: "r"}, Subjects: []ocm.Subject{{Ref: ocm.Ref{Kind: "Policy", Name: "p"}}},
		}}}},
		{"a binding of a mesh policy", `
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b}
placementRef: {apiGroup: cluster.open-cluster-management.io, kind: Placement, name: fleet}
subjects: [{apiGroup: kuma.io, kind: MeshTimeout, name: t}]`, ocm.Resources{PlacementBindings: []*ocm.PlacementBinding{{
			Meta: meta("PlacementBinding", "", "b"), Placement: ocm.Ref{Kind: "Placement", Name: "fleet"}, Subjects: []ocm.Subject{{Ref: ocm.Ref{Kind: "MeshTimeout", Name: "t"}, Mesh: true}},
		}}}},
		{"a rule", rule + `
spec:
  clusters: [{name: a}]
  clusterSelector: {matchLabels: {env: prod}, matchExpressions: [{key: gpu, operator: Exists}, {key: region, operator: NotIn, values: [eu, us]}]}
  dataplaneSelector: {}`, ocm.Resources{PlacementRules: []*ocm.PlacementRule{{
			Meta: meta("PlacementRule", "", "r"), Clusters: []string{"a"}, ClusterSelector: selector, DataplaneSelector: &ocm.LabelSelector{},
		}}}},
		{"a rule with decisions", rule + "status: {decisions: [{clusterName: a, clusterNamespace: a}, {clusterName: b}]}", ocm.Resources{PlacementRules: []*ocm.PlacementRule{{
			Meta: meta("PlacementRule", "", "r"), Decided: true, Decisions: []string{"a", "b"},
		}}}},
		{"a rule of no clusters", rule + "spec: {clusters: []}\nstatus: {decisions: null}", ocm.Resources{PlacementRules: []*ocm.PlacementRule{{
			Meta: meta("PlacementRule", "", "r"), Clusters: []string{},
		}}}},
		{"a placement and its decision", `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: fleet}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata:
  name: fleet-1
  labels:
    cluster.open-cluster-management.io/placement: fleet
    cluster.open-cluster-management.io/decision-group-name: canary
    cluster.open-cluster-management.io/decision-group-index: "2"
status: {decisions: [{clusterName: a, reason: b}]}`, ocm.Resources{
			Placements: []*ocm.Placement{{Meta: meta("Placement", "", "fleet")}},
			PlacementDecisions: []*ocm.PlacementDecision{{
				Meta: meta("PlacementDecision", "", "fleet-1"), Placement: "fleet", Group: ocm.Group{Index: 2, Name: "canary"}, Clusters: []string{"a"},
			}},
		}},
		{"a decision of a group without an index", `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: PlacementDecision
metadata: {name: d, labels: {cluster.open-cluster-management.io/decision-group-index: x}}`, ocm.Resources{
			PlacementDecisions: []*ocm.PlacementDecision{{Meta: meta("PlacementDecision", "", "d")}},
		}},
		{"a cluster, which has no namespace", `
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: a, namespace: ns}`, ocm.Resources{ManagedClusters: []*ocm.ManagedCluster{{Meta: meta("ManagedCluster", "", "a")}}}},
		{"a rollout of all at once", rollout + "strategy: {type: All}", ocm.Resources{Rollouts: []*ocm.Rollout{{
			Meta: meta("Rollout", "", "r"), Placement: ocm.Ref{Kind: "Placement", Name: "p"}, Strategy: ocm.Strategy{Type: ocm.All},
		}}}},
		{"a rollout of some at a time", rollout + `
strategy:
  type: Progressive
  progressive:
    maxConcurrency: 25%
    mandatoryDecisionGroups: [{groupName: canary}, {groupIndex: 3}]
    minSuccessTime: 0
    progressDeadline: 1h
    maxFailures: "2"
status: [{cluster: a, status: Failed, lastTransitionTime: "2026-01-02T03:04:05Z"}, {cluster: b, status: ToApply}]`, ocm.Resources{Rollouts: []*ocm.Rollout{{
			Meta: meta("Rollout", "", "r"), Placement: ocm.Ref{Kind: "Placement", Name: "p"},
			Strategy: ocm.Strategy{
				Type: ocm.Progressive, MaxConcurrency: &ocm.Amount{Value: 25, Percent: true}, MandatoryGroups: []ocm.GroupRef{{Name: "canary"}, {Index: 3}},
				ProgressDeadline: &hour, MaxFailures: ocm.Amount{Value: 2},
			},
			Status: []ocm.ClusterStatus{
				{Cluster: "a", Status: ocm.Failed, Since: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, {Cluster: "b", Status: ocm.ToApply},
			},
		}}}},
		{"a rollout without a deadline", rollout + "strategy: {type: ProgressivePerGroup, progressivePerGroup: {minSuccessTime: 5m, progressDeadline: None}}", ocm.Resources{Rollouts: []*ocm.Rollout{{
			Meta: meta("Rollout", "", "r"), Placement: ocm.Ref{Kind: "Placement", Name: "p"}, Strategy: ocm.Strategy{Type: ocm.ProgressivePerGroup, MinSuccessTime: 5 * time.Minute},
		}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := decode(test.text)
			if err != nil {
				t.Fatal(err)
			}
			ignored := []cmp.Option{cmpopts.IgnoreFields(resource.Meta{}, "Labels", "Pos"), cmpopts.IgnoreTypes(diag.Position{}), cmpopts.IgnoreFields(ocm.Ref{}, "Path")}
			if diff := cmp.Diff(&test.want, ocm.Read(set), ignored...); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The document of a resource that was made in Go contains the resource itself.
func TestDocuments(t *testing.T) {
	r := &ocm.Placement{Meta: resource.Meta{ID: resource.ID{Kind: ocm.PlacementKind, Name: "fleet"}}}
	document := ocm.NewDocument(r)
	if document.ID != r.ID || ocm.ResourceOf(document) != ocm.Resource(r) {
		t.Errorf("got %+v", document)
	}
	if other := ocm.ResourceOf(&resource.Document{Value: "text"}); other != nil {
		t.Errorf("a document of another type is %v", other)
	}
	set, err := decode("type: Rollout\nname: r\nplacement: p\nstrategy: {type: All}")
	if err != nil {
		t.Fatal(err)
	}
	if got := ocm.ResourceOf(set.Documents[0]).Identity().ID; got != (resource.ID{Kind: ocm.RolloutKind, Name: "r"}) || !ocm.IsKind(got.Kind) || ocm.IsKind(resource.MeshKind) {
		t.Errorf("got %v", got)
	}
}

// A limit that the type of a strategy does not have is a warning. So is a field of a
// rule that only a scheduler evaluates.
func TestWarnings(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"a limit for all", rollout + "strategy: {type: All, all: {maxConcurrency: 2}}", "strategy.all.maxConcurrency: has no effect for type All; use type Progressive"},
		{"a limit for groups", rollout + "strategy: {type: ProgressivePerGroup, progressivePerGroup: {maxConcurrency: 2}}", "strategy.progressivePerGroup.maxConcurrency: has no effect for type ProgressivePerGroup; use type Progressive"},
		{"a limit", rollout + "strategy: {type: Progressive, progressive: {maxConcurrency: 2}}", ""},
		{"replicas", rule + "spec: {clusterReplicas: 1}", "spec.clusterReplicas: has no effect: only status.decisions can restrict the clusters further; add status.decisions, or list the clusters"},
		{"conditions", rule + "spec: {clusterConditions: [{type: a}]}", "spec.clusterConditions: has no effect: only status.decisions can restrict the clusters further; add status.decisions, or list the clusters"},
		{"conditions that were evaluated", rule + "spec: {clusterConditions: [{type: a}]}\nstatus: {decisions: []}", ""},
	} {
		set, err := decode(test.text)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, w := range set.Warnings {
			got += w.Path + ": " + w.What + "; " + w.Hint
		}
		if got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}
