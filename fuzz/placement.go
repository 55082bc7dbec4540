package fuzz

import "maps"

// clusters are the names of clusters; the first two are zones of dataplanes.
var clusters = []string{"east", "west", "north"}

// placement adds a placement in one of the forms of SPEC 8.1, and a binding that binds
// policies of the scenario to it.
func (m *meshMaker) placement(s *Scenario) {
	if len(m.policies) == 0 {
		return
	}
	subject := pick(m.choices, m.policies...)
	name, kind := pick(m.choices, "p1", "p2"), "PlacementRule"
	if m.rarely(3) {
		kind = "Placement"
		s.add(m.ocmResource("cluster", kind, name, subject.namespace, nil))
		decisions := map[string]any{"status": map[string]any{"decisions": m.decisions()}}
		decision := m.ocmResource("cluster", "PlacementDecision", name+"-decision", subject.namespace, decisions)
		if decision != nil {
			decision["metadata"].(map[string]any)["labels"] = map[string]any{"cluster.open-cluster-management.io/placement": name}
		}
		s.add(decision)
	} else {
		s.add(m.ocmResource("apps", kind, name, subject.namespace, m.placementRule()))
	}
	body := map[string]any{
		"placementRef": map[string]any{"apiGroup": groups[groupOf[kind]], "kind": kind, "name": name},
		"subjects":     m.subjects(subject),
	}
	m.override(body)
	s.add(m.ocmResource("policy", "PlacementBinding", pick(m.choices, "b1", "b2", "b3"), subject.namespace, body))
	if m.rarely(3) {
		labels := map[string]any{"tier": pick(m.choices, tiers...)}
		cluster := m.ocmResource("cluster", "ManagedCluster", pick(m.choices, clusters...), "", nil)
		if cluster != nil {
			cluster["metadata"].(map[string]any)["labels"] = labels
		}
		s.add(cluster)
	}
}

// The API groups of OCM, and the groups of the kinds to which a binding can
// refer.
var (
	groups  = map[string]string{"apps": "apps.open-cluster-management.io", "cluster": "cluster.open-cluster-management.io", "policy": "policy.open-cluster-management.io"}
	groupOf = map[string]string{"PlacementRule": "apps", "Placement": "cluster"}
)

// ocmResource returns a document of OCM, or nil if its identity is taken.
func (m *meshMaker) ocmResource(group, kind, name, namespace string, body map[string]any) map[string]any {
	identity := kind + "/" + namespace + "/" + name
	if m.taken[identity] {
		return nil
	}
	m.taken[identity] = true
	metadata := map[string]any{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	document := map[string]any{"apiVersion": groups[group] + "/v1", "kind": kind, "metadata": metadata}
	maps.Copy(document, body)
	return document
}

// placementRule returns the body of a rule: clusters by name, by labels, by both or
// by decisions, and dataplanes by labels.
func (m *meshMaker) placementRule() map[string]any {
	spec, body := map[string]any{}, map[string]any{}
	if m.intn(3) != 0 {
		names := []any{}
		for range m.intn(3) {
			names = append(names, map[string]any{"name": pick(m.choices, clusters...)})
		}
		spec["clusters"] = names
	}
	switch m.intn(4) {
	case 2:
		spec["clusterSelector"] = map[string]any{}
	case 3:
		spec["clusterSelector"] = map[string]any{"matchLabels": map[string]any{"tier": pick(m.choices, tiers...)}}
	}
	if m.rarely(3) {
		spec["dataplaneSelector"] = map[string]any{"matchExpressions": []any{map[string]any{
			"key": "app", "operator": pick(m.choices, "In", "NotIn"), "values": []any{pick(m.choices, apps...)},
		}}}
	}
	if m.rarely(6) {
		body["status"] = map[string]any{"decisions": m.decisions()}
	}
	body["spec"] = spec
	return body
}

func (m *meshMaker) decisions() []any {
	decisions := []any{}
	for range m.intn(3) {
		decisions = append(decisions, map[string]any{"clusterName": pick(m.choices, clusters...), "clusterNamespace": "c"})
	}
	return decisions
}

// subjects returns a policy and, in some bindings, another policy of its namespace or
// a policy that does not exist.
func (m *meshMaker) subjects(first subjectRef) []any {
	subjects := []any{first.document()}
	for range m.intn(3) {
		subjects = append(subjects, pick(m.choices, m.policies...).document())
	}
	return subjects
}

// override adds the override of a binding, in one of the two forms.
func (m *meshMaker) override(body map[string]any) {
	action := pick(m.choices, any("enforce"), "Enforce", nil)
	subFilter := m.intn(2) == 1
	if m.intn(2) == 0 {
		body["remediationActionOverride"] = map[string]any{"remediationAction": action, "subFilter": subFilter}
		return
	}
	body["bindingOverrides"] = map[string]any{"remediationAction": action}
	if subFilter {
		body["subFilter"] = "restricted"
	}
}

// subjectRef identifies a policy in a binding.
type subjectRef struct{ kind, name, namespace string }

func (s subjectRef) document() map[string]any {
	return map[string]any{"apiGroup": "kuma.io", "kind": s.kind, "name": s.name}
}
