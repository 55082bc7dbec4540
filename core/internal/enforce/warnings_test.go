package enforce_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// hubText contains a policy that is placed on a cluster, and a mesh policy with the
// shadow label. It has no warning.
const hubText = `
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: p}
spec: {remediationAction: inform}
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: r}
spec: {clusters: [{name: a}]}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: placing}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: r}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: p}]
---
type: MeshTimeout
mesh: m
name: slow
labels: {kuma.io/effect: shadow}
spec: {to: [{default: {connectionTimeout: 9s}}]}
---
`

func TestWarnings(t *testing.T) {
	const (
		policy   = "apiVersion: policy.open-cluster-management.io/v1\nkind: Policy\nmetadata: {name: q}\nspec: "
		set      = "apiVersion: policy.open-cluster-management.io/v1beta1\nkind: PolicySet\nmetadata: {name: s}\nspec: "
		rule     = "apiVersion: apps.open-cluster-management.io/v1\nkind: PlacementRule\nmetadata: {name: x}\nspec: "
		cluster  = "apiVersion: cluster.open-cluster-management.io/v1beta1\n"
		override = "bindingOverrides: {remediationAction: enforce}\n"
		sub      = "subFilter: restricted\n"
	)
	bind := func(rule, subject, override string) string {
		return "---\napiVersion: policy.open-cluster-management.io/v1\nkind: PlacementBinding\nmetadata: {name: b}\n" +
			"placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: " + rule + "}\n" +
			"subjects: [{apiGroup: " + subject + "}]\n" + override
	}
	const ofSet = "policy.open-cluster-management.io, kind: PolicySet, name: s"
	const p, q = "policy.open-cluster-management.io, kind: Policy, name: p", "policy.open-cluster-management.io, kind: Policy, name: q"
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"an override", bind("r", p, override+sub), ""},
		{"a placement that does not exist", bind("none", p, override), `placementRef: there is no PlacementRule "none"`},
		{"a policy that does not exist", bind("r", q, ""), `subjects[0]: there is no Policy "q"`},
		{"a set that does not exist", bind("r", ofSet, ""), `subjects[0]: there is no PolicySet "s"`},
		{"a mesh policy that does not exist", bind("r", "kuma.io, kind: MeshTimeout, name: fast", override), `subjects[0]: there is no MeshTimeout "fast"`},
		{
			"a mesh policy of another namespace", strings.Replace(bind("r", "kuma.io, kind: MeshTimeout, name: slow", override), "{name: b}", "{name: b, namespace: ns}", 1),
			`placementRef: there is no PlacementRule "r" in namespace "ns"` + "\n" +
				`subjects[0]: there is no MeshTimeout "slow" in namespace "ns"; there is one in namespace ""; a binding and its subjects must be in the same namespace`,
		},
		{
			"a mesh policy of another mesh", strings.Replace(bind("r", "kuma.io, kind: MeshTimeout, name: slow", override), "{name: b}", "{name: b, labels: {kuma.io/mesh: n}}", 1),
			`subjects[0]: there is no MeshTimeout "slow"`,
		},
		{
			"a mesh policy of the same name and another kind", strings.Replace(bind("r", "kuma.io, kind: MeshRetry, name: slow", override), "{name: b}", "{name: b, namespace: ns}", 1),
			`placementRef: there is no PlacementRule "r" in namespace "ns"` + "\n" + `subjects[0]: there is no MeshRetry "slow" in namespace "ns"`,
		},
		{"a binding without an override of a mesh policy that enforces", "type: MeshRetry\nmesh: m\nname: retry\nspec: {to: [{default: {tcp: {maxConnectAttempt: 2}}}]}\n" + bind("r", "kuma.io, kind: MeshRetry, name: retry", ""), ""},
		{"a member of a set that does not exist", set + "{policies: [p, q]}\n" + bind("r", ofSet, ""), `spec.policies[1]: there is no Policy "q"`},
		{"an exclusion of no member", set + "{policies: [p], exclusions: [{policyName: q, clusterNames: [a]}]}\n" + bind("r", ofSet, ""), `spec.exclusions[0].policyName: the set does not contain Policy "q"`},
		{
			"an exclusion without a cluster", set + "{policies: [p], exclusions: [{policyName: p, clusterNames: []}]}\n" + bind("r", ofSet, ""),
			`spec.exclusions[0]: the exclusion has no effect: it has no clusters`,
		},
		{
			"an exclusion of clusters that are not bound", set + "{policies: [p], exclusions: [{policyName: p, clusterNames: [b, c]}]}\n" + bind("r", ofSet, ""),
			`spec.exclusions[0].clusterNames[0]: the exclusion has no effect: no binding of the set has the cluster "b"` + "\n" +
				`spec.exclusions[0].clusterNames[1]: the exclusion has no effect: no binding of the set has the cluster "c"`,
		},
		{
			"an exclusion of every cluster", set + "{policies: [p], exclusions: [{policyName: p, clusterNames: [a]}]}\n" + bind("r", ofSet, ""),
			`spec.policies[0]: the set places Policy "p" nowhere: it excludes every cluster of its bindings`,
		},
		{
			"a cluster that is excluded twice", rule + "{clusters: [{name: a}, {name: b}]}\n---\n" +
				set + "{policies: [p], exclusions: [{policyName: p, clusterNames: [a]}, {policyName: p, clusterNames: [a]}]}\n" + bind("x", ofSet, ""),
			`spec.exclusions[1].clusterNames[0]: the exclusion has no effect: the cluster "a" is excluded already`,
		},
		{"an exclusion with an effect", rule + "{clusters: [{name: a}, {name: b}]}\n---\n" + set + "{policies: [p], exclusions: [{policyName: p, clusterNames: [a]}]}\n" + bind("x", ofSet, ""), ""},
		{"a set without policies", set + "{policies: []}\n" + bind("r", ofSet, ""), `the set places nothing: it has no policies`},
		{"a set that is not bound", set + "{policies: [p]}", `the set places nothing: no binding has it; add a binding with it as a subject`},
		{
			"a subFilter with other clusters", rule + "{clusters: [{name: b}]}\n" + bind("x", p, override+sub),
			`subjects[0]: the override has no effect: it has none of the clusters on which Policy "p" is placed`,
		},
		{"an override of a disabled policy", policy + "{remediationAction: inform, disabled: true}\n" + bind("r", q, override), `subjects[0]: the override has no effect: Policy "q" is disabled`},
		{"a placement that selects nothing", rule + "{clusterSelector: {matchLabels: {a: b}}}\n" + bind("x", p, ""), `placementRef: the binding binds nothing: PlacementRule "x" selects no cluster`},
		{"a subFilter without an override", bind("r", p, sub), `the binding binds nothing: it has a subFilter and no override; add an enforce override, or remove the subFilter`},
		{
			"a subFilter without a plain binding", policy + "{remediationAction: inform}\n" + bind("r", q, override+sub),
			`subjects[0]: the override has no effect: no binding without a subFilter places Policy "q"; bind it without a subFilter too`,
		},
		{"an override of a policy that enforces", policy + "{remediationAction: enforce}\n" + bind("r", q, override), `subjects[0]: the override has no effect: Policy "q" enforces by itself`},
		{"an override of informOnly", policy + "{remediationAction: informOnly}\n" + bind("r", q, override), `subjects[0]: the override has no effect: Policy "q" has the action informOnly`},
		{
			"an override of a mesh policy that enforces", "type: MeshRetry\nmesh: m\nname: retry\nspec: {to: [{default: {tcp: {maxConnectAttempt: 2}}}]}\n" + bind("r", "kuma.io, kind: MeshRetry, name: retry", override),
			`subjects[0]: the override has no effect: MeshRetry "retry" enforces by itself; add the label kuma.io/effect: shadow to it`,
		},
		{
			"a selector of dataplanes for a policy on clusters", rule + "{clusters: [{name: a}], dataplaneSelector: {matchLabels: {canary: \"yes\"}}}\n" + bind("x", p, ""),
			`placementRef: the dataplaneSelector of PlacementRule "x" has no effect on policies that are placed on clusters`,
		},
		{
			"a placement without decisions", cluster + "kind: Placement\nmetadata: {name: fleet}\nspec: {}\n",
			`the placement selects nothing: it has no decisions; add a PlacementDecision with the label cluster.open-cluster-management.io/placement: fleet`,
		},
		{"a placement with a decision", cluster + "kind: Placement\nmetadata: {name: fleet}\nspec: {}\n---\n" + cluster + "kind: PlacementDecision\nmetadata: {name: d, labels: {cluster.open-cluster-management.io/placement: fleet}}\n", ""},
		{
			"a placement that is bound, without decisions", cluster + "kind: Placement\nmetadata: {name: fleet}\nspec: {}\n" +
				strings.Replace(strings.Replace(bind("fleet", p, ""), "PlacementRule", "Placement", 1), "apps.open", "cluster.open", 1),
			`the placement selects nothing: it has no decisions; add a PlacementDecision with the label cluster.open-cluster-management.io/placement: fleet` + "\n" +
				`placementRef: the binding binds nothing: Placement "fleet" selects no cluster`,
		},
		{
			"a decision of no placement", cluster + "kind: PlacementDecision\nmetadata: {name: d}\nstatus: {decisions: []}\n",
			`metadata.labels["cluster.open-cluster-management.io/placement"]: the decision belongs to no placement; add the label`,
		},
		{
			"a decision of a placement that does not exist", cluster + "kind: PlacementDecision\nmetadata: {name: d, labels: {cluster.open-cluster-management.io/placement: x}}\n",
			`metadata.labels["cluster.open-cluster-management.io/placement"]: there is no Placement "x"`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			input := loadSet(t, hubText+strings.TrimPrefix(test.text, "---\n"))
			var got []string
			for _, w := range stateOf(ocm.Read(input)).Warnings(input.Policies) {
				if w.Pos.Line == 0 {
					t.Errorf("%v has no position", w)
				}
				line := w.Message()
				if w.Path != "" {
					line = w.Path + ": " + line
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
