package naive

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/resource"
)

// loadHub returns the meshes' resources and OCM's of a file.
func loadHub(t *testing.T, text string) (*resource.Set, *Hub) {
	t.Helper()
	var all []map[string]any
	var mesh []string
	for _, part := range strings.Split(text, "\n---\n") {
		var document map[string]any
		if err := yaml.Unmarshal([]byte(part), &document); err != nil {
			t.Fatal(err)
		}
		if all = append(all, document); document["type"] != nil {
			mesh = append(mesh, part)
		}
	}
	return load(t, strings.Join(mesh, "\n---\n")), ReadHub(all)
}

// A binding of a set, an exclusion, and a binding with a subFilter in the released
// form.
func TestPlacementsOfPolicies(t *testing.T) {
	set, hub := loadHub(t, `
apiVersion: policy.open-cluster-management.io/v1
kind: Policy
metadata: {name: p, namespace: ns}
spec: {remediationAction: Inform}
---
apiVersion: policy.open-cluster-management.io/v1beta1
kind: PolicySet
metadata: {name: s, namespace: ns}
spec:
  policies: [p]
  exclusions: [{policyName: p, reason: too old, clusterNames: [b]}]
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: all, namespace: ns}
spec: {clusters: [{name: a}, {name: b}, {name: c}]}
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: east, namespace: ns}
spec: {clusterSelector: {matchExpressions: [{key: region, operator: In, values: [east]}]}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: a, labels: {region: east}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: b, labels: {region: east}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: everywhere, namespace: ns}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: all}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: PolicySet, name: s}]
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: wave-1, namespace: ns}
bindingOverrides: {remediationAction: ENFORCE}
subFilter: restricted
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: east}
subjects: [{apiGroup: policy.open-cluster-management.io, kind: Policy, name: p}]
`)
	expect(t, Placements(set, hub, "m"), `{"policies": [{
		"kind": "Policy", "namespace": "ns", "name": "p", "remediationAction": "inform",
		"targets": [
			{"cluster": "a", "action": "enforce", "because": ["wave-1"]},
			{"cluster": "c", "action": "inform", "because": ["everywhere"]}
		]
	}]}`)
}

// A mesh policy has the shadow label and is enforced on the canaries of a zone. The zone
// is a label of one dataplane and a tag of the other.
func TestPlacementsOfMeshPolicies(t *testing.T) {
	set, hub := loadHub(t, `
type: Dataplane
mesh: m
name: canary
labels: {kuma.io/zone: east, canary: "yes"}
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/zone: west}}]}
---
type: Dataplane
mesh: m
name: web
networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/zone: east}}]}
---
type: UpstreamTimeout
mesh: m
name: slow
labels: {kuma.io/effect: shadow}
spec: {to: [{default: {connectTimeout: 9s}}]}
---
apiVersion: apps.open-cluster-management.io/v1
kind: PlacementRule
metadata: {name: canaries}
spec: {clusters: [{name: east}], dataplaneSelector: {matchLabels: {canary: "yes"}}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: wave-1}
remediationActionOverride: {remediationAction: enforce, subFilter: true}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: canaries}
subjects: [{apiGroup: kuma.io, kind: UpstreamTimeout, name: slow}]
`)
	expect(t, Placements(set, hub, "m"), `{"policies": [{
		"kind": "UpstreamTimeout", "name": "slow", "remediationAction": "inform",
		"targets": [
			{"dataplane": "kri_dp_m___web_", "action": "inform", "because": []},
			{"dataplane": "kri_dp_m_east__canary_", "action": "enforce", "because": ["wave-1"]}
		]
	}]}`)
}
