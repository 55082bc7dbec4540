package resource

import (
	"encoding/json"

	"github.com/meshmatch/meshmatch/core/conf"
)

// MarshalJSON prints a policy with its sugar expanded (SPEC 2.3), in the spelling of
// [Meta.marshal]. The output decodes to an equal policy, whose labels contain its
// namespace.
func (p *Policy) MarshalJSON() ([]byte, error) {
	spec := expandedSpec{TargetRef: p.TargetRef.expanded(p.Mesh), Default: p.Default}
	var err error
	if p.To != nil {
		if spec.To, err = expandItems(p.To, p.Type.To, p.Mesh); err != nil {
			return nil, err
		}
	}
	if p.Gateway != nil {
		if spec.To, err = expandItems(p.Gateway, p.Type.Gateway, p.Mesh); err != nil {
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
	return p.marshal(p.Mesh, &spec, false)
}

type expandedSpec struct {
	TargetRef targetRefDoc      `json:"targetRef"`
	To        []json.RawMessage `json:"to,omitzero"`
	From      []json.RawMessage `json:"from,omitzero"`
	Rules     []expandedRule    `json:"rules,omitzero"`
	Default   Conf              `json:"default,omitzero"`
}

type expandedItem struct {
	TargetRef targetRefDoc `json:"targetRef"`
	Default   Conf         `json:"default,omitzero"`
}

type expandedRule struct {
	Matches []conf.Match `json:"matches,omitzero"`
	Default Conf         `json:"default"`
}

func (t *TargetRef) expanded(mesh string) targetRefDoc {
	doc := t.doc()
	if t.Kind == TargetMesh || t.Kind == TargetMeshSubset {
		doc.Name = present(&mesh)
	}
	return doc
}

// expandItems prints items; the fields of inline confs are next to the
// targetRef.
func expandItems(items []Item, section *Section, mesh string) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, len(items))
	for i := range items {
		var err error
		item := expandedItem{TargetRef: items[i].TargetRef.expanded(mesh)}
		if section.Inline {
			out[i], err = MarshalInline(item, items[i].Conf)
		} else {
			item.Default = items[i].Conf
			out[i], err = conf.Marshal(item)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
