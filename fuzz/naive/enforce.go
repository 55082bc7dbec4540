package naive

import (
	"slices"
	"sort"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Placements returns the output of `meshmatch placement` (SPEC 10): for every OCM
// policy its clusters, and for every policy of the mesh that has a binding or the
// shadow label its dataplanes.
func Placements(set *resource.Set, w *Hub, mesh string) map[string]any {
	var entries []map[string]any
	for _, p := range w.Policies {
		entries = append(entries, w.describePolicy(p))
	}
	m := newMesh(set, mesh, Options{Shadow: true})
	for _, p := range m.policies {
		if informs(p) || len(w.bindingsOfMeshPolicy(p)) > 0 {
			entries = append(entries, w.describeMeshPolicy(m, p, set.Dataplanes))
		}
	}
	sort.SliceStable(entries, func(i, j int) bool {
		for _, key := range []string{"kind", "namespace", "name"} {
			a, _ := entries[i][key].(string)
			b, _ := entries[j][key].(string)
			if a != b {
				return a < b
			}
		}
		return false
	})
	list := []any{}
	for _, entry := range entries {
		list = append(list, entry)
	}
	return map[string]any{"policies": list}
}

// path is one path from a binding to a policy: direct, or through a set.
type path struct {
	binding *placementBinding
	set     *policySet // nil: direct
}

// paths returns the paths to an OCM policy. A binding, its subjects and the members of a
// set are in the same namespace (SPEC 8.1).
func (w *Hub) paths(p *hubPolicy) []path {
	var list []path
	for _, b := range w.PlacementBindings {
		if b.Namespace != p.Namespace {
			continue
		}
		for _, s := range b.Subjects {
			if s.Mesh {
				continue
			}
			if s.Kind == "Policy" && s.Name == p.Name {
				list = append(list, path{b, nil})
			}
			for _, set := range w.PolicySets {
				if s.Kind == "PolicySet" && set.Namespace == b.Namespace && set.Name == s.Name && slices.Contains(set.Policies, p.Name) {
					list = append(list, path{b, set})
				}
			}
		}
	}
	return list
}

// clusters returns the clusters that a path selects: the clusters of the
// binding's placement, without the clusters that the set excludes for the
// policy.
func (w *Hub) clusters(x path, policy string) map[string]bool {
	selected := map[string]bool{}
	for _, name := range w.names() {
		if w.selectsCluster(x.binding, name, true) {
			selected[name] = true
		}
	}
	if x.set != nil {
		for _, e := range x.set.Exclusions {
			if e.Policy != policy {
				continue
			}
			for _, name := range e.Clusters {
				delete(selected, name)
			}
		}
	}
	return selected
}

// names returns every name of a cluster that any resource contains.
func (w *Hub) names() []string {
	var names []string
	for _, c := range w.ManagedClusters {
		names = append(names, c.Name)
	}
	for _, r := range w.PlacementRules {
		names = append(names, r.Clusters...)
		names = append(names, r.Decisions...)
	}
	for _, d := range w.PlacementDecisions {
		names = append(names, d.Clusters...)
	}
	return names
}

// selectsCluster reports whether the placement of a binding selects a cluster.
// A selector without requirements selects every cluster with a ManagedCluster
// and, for a zone of dataplanes, every cluster.
func (w *Hub) selectsCluster(b *placementBinding, name string, managed bool) bool {
	switch b.Placement.Kind {
	case "Placement":
		found := false
		for _, p := range w.Placements {
			found = found || p.Namespace == b.Namespace && p.Name == b.Placement.Name
		}
		for _, d := range w.PlacementDecisions {
			if found && d.Namespace == b.Namespace && d.Placement == b.Placement.Name && slices.Contains(d.Clusters, name) {
				return true
			}
		}
	case "PlacementRule":
		if r := w.rule(b); r != nil {
			return w.ruleSelects(r, name, managed)
		}
	}
	return false
}

// rule returns the PlacementRule of a binding, or nil.
func (w *Hub) rule(b *placementBinding) *placementRule {
	for _, r := range w.PlacementRules {
		if b.Placement.Kind == "PlacementRule" && r.Namespace == b.Namespace && r.Name == b.Placement.Name {
			return r
		}
	}
	return nil
}

func (w *Hub) ruleSelects(r *placementRule, name string, managed bool) bool {
	if r.Decided {
		return slices.Contains(r.Decisions, name)
	}
	if r.Clusters == nil && r.ClusterSelector == nil {
		return false
	}
	if r.Clusters != nil && !slices.Contains(r.Clusters, name) {
		return false
	}
	if r.ClusterSelector == nil {
		return true
	}
	if len(r.ClusterSelector.Labels) == 0 && len(r.ClusterSelector.Expressions) == 0 {
		return r.Clusters != nil || !managed || w.cluster(name) != nil
	}
	cluster := w.cluster(name)
	return cluster != nil && labelsMatch(r.ClusterSelector, cluster.Labels)
}

func (w *Hub) cluster(name string) *hubResource {
	for _, c := range w.ManagedClusters {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// labelsMatch evaluates a Kubernetes label selector: every label and every expression
// must hold; NotIn holds for an absent label.
func labelsMatch(selector *labelSelector, labels map[string]string) bool {
	for key, want := range selector.Labels {
		value, present := labels[key]
		if !present || value != want {
			return false
		}
	}
	for _, e := range selector.Expressions {
		value, present := labels[e.Key]
		in := present && slices.Contains(e.Values, value)
		switch {
		case e.Operator == "In" && !in,
			e.Operator == "NotIn" && in,
			e.Operator == "Exists" && !present,
			e.Operator == "DoesNotExist" && present:
			return false
		}
	}
	return true
}

// describePolicy implements SPEC 8.2: the bindings without subFilter select P, the ones
// among them with an override select Q, and the bindings with subFilter and override
// select R. The policy is placed on P and enforced on Q ∪ (P ∩ R).
func (w *Hub) describePolicy(p *hubPolicy) map[string]any {
	placing, enforcing := map[string][]string{}, map[string][]string{}
	for _, x := range w.paths(p) {
		for name := range w.clusters(x, p.Name) {
			if !x.binding.SubFilter {
				placing[name] = append(placing[name], x.binding.Name)
			}
			if x.binding.Enforce {
				enforcing[name] = append(enforcing[name], x.binding.Name)
			}
		}
	}
	targets := []any{}
	for _, name := range clusterNames(placing) {
		if p.Disabled {
			break
		}
		targets = append(targets, remediate("cluster", name, p.Action, placing[name], enforcing[name]))
	}
	return describe(p.hubResource, actionNames[p.Action], targets)
}

// remediate returns the action of a policy on one target on which it is placed, and the
// cause of the action.
func remediate(key, name string, own int, placing, enforcing []string) map[string]any {
	action, because := "inform", placing
	switch {
	case own == enforce:
		action = "enforce"
	case own == inform && len(enforcing) > 0:
		action, because = "enforce", enforcing
	}
	return map[string]any{key: name, "action": action, "because": bindingNames(because)}
}

func describe(meta hubResource, action string, targets []any) map[string]any {
	entry := map[string]any{"kind": meta.Kind, "name": meta.Name, "remediationAction": action, "targets": targets}
	if meta.Namespace != "" {
		entry["namespace"] = meta.Namespace
	}
	return entry
}

func bindingNames(names []string) []any {
	names = slices.Clone(names)
	slices.Sort(names)
	list := []any{}
	for _, name := range slices.Compact(names) {
		list = append(list, name)
	}
	return list
}

func clusterNames(m map[string][]string) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// bindingsOfMeshPolicy returns the bindings that have a policy of a mesh as a subject. A
// binding with the label kuma.io/mesh is for policies of that mesh.
func (w *Hub) bindingsOfMeshPolicy(p *resource.Policy) []*placementBinding {
	var list []*placementBinding
	for _, b := range w.PlacementBindings {
		if mesh, given := b.Labels["kuma.io/mesh"]; given && mesh != p.Mesh {
			continue
		}
		for _, s := range b.Subjects {
			if s.Mesh && b.Namespace == p.Namespace && s.Kind == p.Kind && s.Name == p.Name {
				list = append(list, b)
				break
			}
		}
	}
	return list
}

// selectsDataplane reports whether the placement of a binding selects a dataplane (SPEC
// 8.3). The placement must select the cluster with the name of the dataplane's zone, or
// be about dataplanes only. Its dataplaneSelector must select the labels, and its
// dataplanes must contain the dataplane.
func (w *Hub) selectsDataplane(b *placementBinding, dp *resource.Dataplane) bool {
	r := w.rule(b)
	if r == nil || r.Decided || r.Clusters != nil || r.ClusterSelector != nil || r.DataplaneSelector == nil && r.Dataplanes == nil {
		zone := zoneOf(dp)
		if zone == "" || !w.selectsCluster(b, zone, false) {
			return false
		}
	}
	if r == nil {
		return true
	}
	if r.Dataplanes != nil {
		listed := false
		for _, d := range r.Dataplanes {
			listed = listed || d.Mesh == dp.Mesh && d.Namespace == dp.Namespace && d.Name == dp.Name
		}
		if !listed {
			return false
		}
	}
	return r.DataplaneSelector == nil || labelsMatch(r.DataplaneSelector, tagMap(dp.Labels))
}

func tagMap(tags resource.Tags) map[string]string {
	m := map[string]string{}
	for _, tag := range tags {
		m[tag.Key] = tag.Value
	}
	return m
}

// zoneOf returns the label, otherwise the tag of the first inbound or gateway that has
// one (SPEC 8.3, 8.5).
func zoneOf(dp *resource.Dataplane) string {
	const key = "kuma.io/zone"
	if zone, present := lookup(dp.Labels, key); present {
		return zone
	}
	for i := range dp.Inbounds {
		if zone, present := lookup(dp.Inbounds[i].Tags, key); present {
			return zone
		}
	}
	if dp.Gateway != nil {
		zone, _ := lookup(dp.Gateway.Tags, key)
		return zone
	}
	return ""
}

// enforced reports whether a policy that selects a dataplane is enforced on it: it does
// not have the shadow label, or a binding overrides the label, with or without a
// subFilter.
func (w *Hub) enforced(p *resource.Policy, dp *resource.Dataplane) bool {
	if !informs(p) {
		return true
	}
	for _, b := range w.bindingsOfMeshPolicy(p) {
		if b.Enforce && w.selectsDataplane(b, dp) {
			return true
		}
	}
	return false
}

// describeMeshPolicy implements SPEC 8.3: P contains the dataplanes that the
// targetRef selects.
func (w *Hub) describeMeshPolicy(m *mesh, p *resource.Policy, dataplanes []*resource.Dataplane) map[string]any {
	own := enforce
	if informs(p) {
		own = inform
	}
	targets := []map[string]any{}
	for _, dp := range dataplanes {
		if !m.selects(p, dp).selected {
			continue
		}
		var placing, enforcing []string
		for _, b := range w.bindingsOfMeshPolicy(p) {
			if !w.selectsDataplane(b, dp) {
				continue
			}
			if !b.SubFilter {
				placing = append(placing, b.Name)
			}
			if b.Enforce {
				enforcing = append(enforcing, b.Name)
			}
		}
		targets = append(targets, remediate("dataplane", kri("dp", &dp.Meta), own, placing, enforcing))
	}
	slices.SortFunc(targets, func(a, b map[string]any) int {
		return strings.Compare(a["dataplane"].(string), b["dataplane"].(string))
	})
	list := []any{}
	for _, target := range targets {
		list = append(list, target)
	}
	return describe(hubResource{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name}, actionNames[own], list)
}

// EnforcedPolicies returns the policies that select a dataplane and are enforced on it.
func EnforcedPolicies(set *resource.Set, w *Hub, dp *resource.Dataplane) []*resource.Policy {
	m := newMesh(set, dp.Mesh, Options{Shadow: true})
	var list []*resource.Policy
	for _, p := range m.policies {
		if m.selects(p, dp).selected && w.enforced(p, dp) {
			list = append(list, p)
		}
	}
	return list
}
