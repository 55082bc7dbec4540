package ocm_test

import (
	"context"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

func decode(text string) (*resource.Set, error) {
	loader := resource.Loader{Kinds: resource.NewKinds(), Documents: ocm.Documents()}
	return loader.Decode(context.Background(), resource.Input{Name: "hub.yaml", Data: []byte(text)})
}

const (
	binding = `apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: r}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: p}]
`
	policy = `apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: p}
`
	rule = `apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: r}
`
	rollout = `type: Rollout
name: r
placement: p
`
)

func TestRejected(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"an unknown action", policy + "spec: {remediationAction: enforced}", `hub.yaml:4:27: spec.remediationAction: unknown value "enforced"; did you mean "enforce"?`},
		{"an unknown field", policy + "spec: {disable: true}", `hub.yaml:4:8: spec.disable: unknown field; did you mean "disabled"?`},
		{"a policy without a spec", policy, `spec: required field is missing`},
		{"an override to inform", binding + "bindingOverrides: {remediationAction: inform}", `bindingOverrides.remediationAction: a binding cannot override an action with "inform"; write enforce, or remove the field`},
		{"both forms", binding + "bindingOverrides: {}\nremediationActionOverride: {}", `bindingOverrides: remediationActionOverride and bindingOverrides are both present; use one of them`},
		{"a subFilter of the other form", binding + "subFilter: restricted\nremediationActionOverride: {}", `subFilter: is not allowed with remediationActionOverride; use remediationActionOverride.subFilter, or bindingOverrides`},
		{"a subFilter that is not a string", binding + "subFilter: true", `subFilter: must be a string, not true; use restricted`},
		{"no subjects", strings.Replace(binding, `[{apiGroup: policy.open-cluster-management.io, kind: Policy, name: p}]`, "[]", 1), `subjects: must have at least one subject`},
		{"a subject of an unknown kind", strings.Replace(binding, "kind: Policy,", "kind: Policys,", 1), `subjects[0].kind: unknown kind "Policys" of API group policy.open-cluster-management.io; did you mean "Policy"?`},
		{"a placement of another group", strings.Replace(binding, "apps.", "cluster.", 1), `placementRef.apiGroup: PlacementRule does not belong to API group cluster.open-cluster-management.io; write apps.open-cluster-management.io`},
		{"a bad label", rule + "spec: {clusterSelector: {matchLabels: {env: a b}}}", `spec.clusterSelector.matchLabels.env: a label value has 1 to 63 letters`},
		{"a bad operator", rule + "spec: {clusterSelector: {matchExpressions: [{key: env, operator: Is}]}}", `spec.clusterSelector.matchExpressions[0].operator: unknown value "Is"`},
		{"In without values", rule + "spec: {dataplaneSelector: {matchExpressions: [{key: env, operator: In}]}}", `spec.dataplaneSelector.matchExpressions[0].values: operator In needs at least one value`},
		{"Exists with values", rule + "spec: {dataplaneSelector: {matchExpressions: [{key: env, operator: Exists, values: [a]}]}}", `matchExpressions[0].values: operator Exists has no values; remove it`},
		{"a decision without a cluster", rule + "status: {decisions: [{clusterNamespace: a}]}", `status.decisions[0].clusterName: required field is missing`},
		{"an unknown kind of the group", strings.Replace(policy, "kind: Policy", "kind: Polici", 1), `kind: unknown kind "Polici" of policy.open-cluster-management.io; did you mean "Policy"?`},
		{"an arm of another type", rollout + "strategy: {type: All, progressive: {}}", `strategy.progressive: is not allowed with type "All"`},
		{"a percentage above 100", rollout + "strategy: {type: All, all: {maxFailures: 101%}}", `strategy.all.maxFailures: a percentage is from 0% to 100%, not 101%`},
		{"an amount that is not a number", rollout + "strategy: {type: All, all: {maxFailures: few}}", `strategy.all.maxFailures: bad number of clusters "few"; write a number such as 3, or a percentage such as "25%"`},
		{"a bad deadline", rollout + "strategy: {type: All, all: {progressDeadline: never}}", `strategy.all.progressDeadline: bad duration "never"`},
		{"a group without a name", rollout + "strategy: {type: All, all: {mandatoryDecisionGroups: [{}]}}", `mandatoryDecisionGroups[0]: groupName or groupIndex is required`},
		{"two statuses of a cluster", rollout + "strategy: {type: All}\nstatus: [{cluster: a, status: Skip}, {cluster: a, status: Skip}]", `status[1].cluster: duplicate status of cluster "a"`},
		{"a soak without a time", rollout + "strategy: {type: All, all: {minSuccessTime: 5m}}\nstatus: [{cluster: a, status: Succeeded}]", `status[0].lastTransitionTime: is required for status Succeeded with minSuccessTime`},
		{"a deadline without a time", rollout + "strategy: {type: All, all: {progressDeadline: 5m}}\nstatus: [{cluster: a, status: Progressing}]", `status[0].lastTransitionTime: is required for status Progressing with progressDeadline`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := decode(test.text)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v\nwant %s", err, test.want)
			}
		})
	}
}

// Both forms of a binding, and actions in any letter case, have the same meaning.
func TestBindings(t *testing.T) {
	for _, test := range []struct {
		name, override     string
		enforce, subFilter bool
	}{
		{"neither", "", false, false},
		{"proposed", "remediationActionOverride: {remediationAction: enforce}", true, false},
		{"proposed, with subFilter", "remediationActionOverride: {remediationAction: ENFORCE, subFilter: true}", true, true},
		{"proposed, null", "remediationActionOverride: {remediationAction: null, subFilter: true}", false, true},
		{"released", "bindingOverrides: {remediationAction: Enforce}", true, false},
		{"released, with subFilter", "subFilter: restricted\nbindingOverrides: {remediationAction: enforce}", true, true},
		{"released, null", "subFilter: restricted\nbindingOverrides: {remediationAction: null}", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := decode(binding + test.override)
			if err != nil {
				t.Fatal(err)
			}
			b := ocm.Read(set).PlacementBindings[0]
			if b.Enforce != test.enforce || b.SubFilter != test.subFilter {
				t.Errorf("got enforce %v, subFilter %v", b.Enforce, b.SubFilter)
			}
		})
	}
}

// Resources in the output of `kubectl get` can be loaded, and an empty list of
// decisions is present.
func TestLiveResources(t *testing.T) {
	set, err := decode(`
apiVersion: v1
kind: List
items:
  - apiVersion: cluster.open-cluster-management.io/v1
    kind: ManagedCluster
    metadata: {name: east, uid: 1f, creationTimestamp: "2026-01-02T03:04:05Z", labels: {env: prod}, finalizers: [a]}
    spec:
      hubAcceptsClient: true
      leaseDurationSeconds: 60
      managedClusterClientConfigs: [{url: "https://east:6443", caBundle: AAAA}]
      taints: [{key: gpu, effect: NoSelect, timeAdded: "2026-01-02T03:04:05Z"}]
    status: {allocatable: {cpu: "8"}, conditions: [], version: {kubernetes: v1.36.0}}
  - apiVersion: apps.open-cluster-management.io/v1
    kind: PlacementRule
    metadata: {name: none, namespace: ns, generation: 3}
    spec: {clusterConditions: [{status: "True", type: ManagedClusterConditionAvailable}], clusterSelector: {}}
    status: {decisions: []}
  - apiVersion: cluster.open-cluster-management.io/v1beta1
    kind: Placement
    metadata: {name: fleet, namespace: ns, annotations: {a: b}}
    spec:
      numberOfClusters: 3
      decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 25%}}
      tolerations: [{key: gpu, operator: Exists}]
    status: {numberOfSelectedClusters: 1, conditions: [], decisionGroups: []}
  - apiVersion: policy.open-cluster-management.io/v1beta1
    kind: PolicySet
    metadata: {name: s, namespace: ns}
    spec: {description: all of them, policies: [p]}
    status: {compliant: Compliant, placement: [{placement: fleet, placementBinding: b}]}
  - apiVersion: cluster.open-cluster-management.io/v1beta2
    kind: ManagedClusterSet
    metadata: {name: global}
    spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {}}}
`)
	if err != nil {
		t.Fatal(err)
	}
	resources := ocm.Read(set)
	if r := resources.PlacementRules[0]; !r.Decided || len(r.Decisions) != 0 {
		t.Errorf("decisions: %v, %v", r.Decided, r.Decisions)
	}
	if c := resources.ManagedClusters[0]; c.Name != "east" || c.Labels.Value("env") != "prod" {
		t.Errorf("cluster: %+v", c)
	}
	if set.Skipped["ManagedClusterSet"] != 1 {
		t.Errorf("skipped: %v", set.Skipped)
	}
	if len(set.Warnings) != 0 {
		t.Errorf("warnings: %v", set.Warnings)
	}
}
