package resource

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
)

// MarshalJSON prints a policy in the universal spelling with its sugar
// written out (SPEC 2.3). What it prints decodes to an equal policy, whose
// labels contain its namespace.
func (p *Policy) MarshalJSON() ([]byte, error) {
	spec := expandedSpec{TargetRef: p.TargetRef.expanded(p.Mesh), Default: p.Default}
	var err error
	if p.To != nil {
		if spec.To, err = expandItems(p.To, p.Type.To, p.Mesh); err != nil {
			return nil, err
		}
	}
	if p.From != nil {
		if spec.From, err = expandItems(p.From, p.Type.From, p.Mesh); err != nil {
			return nil, err
		}
	}
	if p.Rules != nil {
		spec.Rules = make([]expandedRule, len(p.Rules))
		for i := range p.Rules {
			spec.Rules[i] = expandedRule{p.Rules[i].Matches, p.Rules[i].Conf}
		}
	}
	return Marshal(expandedPolicy{p.Kind, p.Mesh, p.Name, p.namespacedLabels(), spec})
}

// namespacedLabels returns the labels, with the namespace among them, as the
// universal spelling has no other place for it. A label of the Kubernetes
// spelling with another namespace is replaced.
func (m *Meta) namespacedLabels() Tags {
	if m.Labels.Value(namespaceLabel) == m.Namespace {
		return m.Labels
	}
	var labels Tags
	for _, label := range m.Labels {
		if label.Key != namespaceLabel {
			labels = append(labels, label)
		}
	}
	if m.Namespace != "" {
		labels = append(labels, Tag{namespaceLabel, m.Namespace})
	}
	slices.SortFunc(labels, func(a, b Tag) int { return cmp.Compare(a.Key, b.Key) })
	return labels
}

type expandedPolicy struct {
	Type   string       `json:"type"`
	Mesh   string       `json:"mesh"`
	Name   string       `json:"name"`
	Labels Tags         `json:"labels,omitzero"`
	Spec   expandedSpec `json:"spec"`
}

type expandedSpec struct {
	TargetRef expandedTargetRef `json:"targetRef"`
	To        []json.RawMessage `json:"to,omitzero"`
	From      []json.RawMessage `json:"from,omitzero"`
	Rules     []expandedRule    `json:"rules,omitzero"`
	Default   Conf              `json:"default,omitzero"`
}

// inlineItem is an item of a section whose confs are next to the targetRef.
type inlineItem struct {
	TargetRef expandedTargetRef `json:"targetRef"`
}

type expandedRule struct {
	Matches []conf.Match `json:"matches,omitzero"`
	Default Conf         `json:"default"`
}

type expandedTargetRef struct {
	Kind        string   `json:"kind"`
	Name        string   `json:"name,omitzero"`
	Namespace   string   `json:"namespace,omitzero"`
	Tags        Tags     `json:"tags,omitzero"`
	Labels      Tags     `json:"labels,omitzero"`
	SectionName string   `json:"sectionName,omitzero"`
	ProxyTypes  []string `json:"proxyTypes,omitzero"`
}

func (t *TargetRef) expanded(mesh string) expandedTargetRef {
	out := expandedTargetRef{
		Kind: t.Kind.String(), Name: t.Name, Namespace: t.Namespace,
		Tags: t.Tags, Labels: t.Labels, SectionName: t.SectionName, ProxyTypes: t.ProxyTypes.words(),
	}
	if t.Kind == TargetMesh || t.Kind == TargetMeshSubset {
		out.Name = mesh
	}
	return out
}

// expandItems prints items; a section's inline confs are next to the
// targetRef.
func expandItems(items []Item, section *Section, mesh string) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(items))
	for i := range items {
		ref := items[i].TargetRef.expanded(mesh)
		data, err := Marshal(struct {
			TargetRef expandedTargetRef `json:"targetRef"`
			Default   Conf              `json:"default,omitzero"`
		}{ref, items[i].Conf})
		if section.Inline {
			data, err = MarshalInline(inlineItem{ref}, items[i].Conf)
		}
		if err != nil {
			return nil, err
		}
		out[i] = data
	}
	return out, nil
}
