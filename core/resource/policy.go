package resource

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Policy is one policy of any kind, with its sugar expanded.
type Policy struct {
	Meta
	Type      *Kind
	TargetRef TargetRef
	// TargetPos is the position of the targetRef, or of the spec if it has none.
	TargetPos diag.Position
	// The arrays in the order of the file. Origins identify an item by its index.
	To, From []Item
	Rules    []Rule
	// Gateway is the `to` of a policy if its items are for the listeners of builtin
	// gateways (SPEC 2.4). To is then nil.
	Gateway []Item
	// Default is the single Conf of a kind without arrays, otherwise nil.
	// DefaultPos is its position.
	Default    Conf
	DefaultPos diag.Position
	// Unreadable means that the policy replaces one that cannot be read (SPEC
	// 14.3). Its confs are not validated: their entries may match everything.
	Unreadable bool
	// SchemaDefaults are the fields of confs that are absent in the document but set by
	// Kuma's schema (SPEC 17.5).
	SchemaDefaults []SchemaDefault
	// Unread are the fields of confs that the document has and the version of Kuma by
	// which it is read does not (SPEC 17.5). The confs do not have them.
	Unread []UnreadField
}

// SchemaDefault is a field that the schema of a kind sets in the conf of an item.
type SchemaDefault struct {
	Index   int    // of the item in its array
	Pointer string // of the leaf in the conf
}

// UnreadField is a field of the conf of an item that is not read.
type UnreadField struct {
	Array   string // to, from, rules, or default for the single conf of a policy
	Index   int    // of the item in its array
	Pointer string // of the field in the conf
}

// Shadow reports whether the policy only informs (SPEC 8.3).
func (p *Policy) Shadow() bool { return p.Labels.Value(EffectLabel) == "shadow" }

// MayWeaken reports whether the policy may weaken the permissions of proxies (SPEC 11.5).
func (p *Policy) MayWeaken() bool { return p.Labels.Value(WeakensLabel) == "true" }

// KRI returns the policy's identifier.
func (p *Policy) KRI() string { return kri(p.Type.Short, &p.Meta, "") }

// Item is an element of `to` or `from`.
type Item struct {
	TargetRef TargetRef
	Conf      Conf
	Pos       diag.Position
}

// Rule is an element of `rules`; no matches mean every request.
type Rule struct {
	Matches []conf.Match
	Conf    Conf
	Pos     diag.Position
}

// hasItems reports whether one of the arrays has an element.
func (p *Policy) hasItems() bool { return len(p.To)+len(p.From)+len(p.Rules)+len(p.Gateway) > 0 }

type policyDoc struct {
	TargetRef *strict.Value   `json:"targetRef,omitzero"`
	To        []*strict.Value `json:"to,omitzero"`
	From      []*strict.Value `json:"from,omitzero"`
	Rules     []*strict.Value `json:"rules,omitzero"`
	Default   *strict.Value   `json:"default,omitzero"`
}

type itemDoc struct {
	TargetRef *strict.Value `json:"targetRef,omitzero"`
	Default   *strict.Value `json:"default"`
}

type ruleDoc struct {
	Matches []conf.Match  `json:"matches,omitzero"`
	Default *strict.Value `json:"default"`
}

// decodePolicy reads a policy's spec and continues after errors. The document is room for that
// of the spec.
func decodePolicy(kind *Kind, meta Meta, spec *strict.Value, doc *policyDoc) *Policy {
	*doc = policyDoc{}
	at := spec.At()
	before := at.Sink().Mark()
	strict.Decode(spec, doc)
	p := &Policy{Meta: meta, Type: kind, TargetPos: spec.Pos()}
	if doc.TargetRef != nil {
		p.TargetPos = doc.TargetRef.Pos()
	}
	p.TargetRef = decodeTargetRef(at, doc.TargetRef, kind.topPlace(meta.Mesh))
	if kind.isForListeners(&p.TargetRef, doc.To) {
		p.Gateway = decodeItems("to", p, kind.Gateway, doc.To)
	} else {
		p.To = decodeItems("to", p, kind.To, doc.To)
	}
	p.From = decodeItems("from", p, kind.From, doc.From)
	p.Rules = decodeRules(at, kind, doc)
	if kind.Default != nil {
		p.Default = decodeConf(kind.Default, doc.Default)
	}
	if p.Default != nil {
		p.DefaultPos = doc.Default.Pos()
	}
	rulesByDefault := kind.Rules != nil && doc.Default != nil
	has := arrays{doc.To != nil, doc.From != nil, doc.Rules != nil || rulesByDefault, doc.Default != nil && !rulesByDefault, p.Gateway != nil, p.hasItems()}
	kind.checkArrays(at, &p.TargetRef, has)
	kind.checkItems(at, has, before)
	return p
}

// isForListeners reports whether the `to` of a policy with that top-level targetRef is for
// the listeners of builtin gateways. The first item decides: if it is of kind Mesh, all
// items must be.
func (k *Kind) isForListeners(top *TargetRef, to []*strict.Value) bool {
	if to == nil || !k.hasListenersFor(top) {
		return false
	}
	if k.To == nil || len(to) == 0 {
		return k.To == nil
	}
	var first struct {
		Kind string `json:"kind,omitzero"`
	}
	if ref := to[0].Field("targetRef"); ref != nil {
		strict.DecodePart(ref, &first)
	}
	return first.Kind == "" || first.Kind == TargetMesh.String()
}

// hasListenersFor reports whether policies of the kind with that top-level targetRef may
// have items for the listeners of gateways (SPEC 2.4). A kind that has outbounds too has
// such items for one MeshGateway only.
func (k *Kind) hasListenersFor(top *TargetRef) bool {
	return k.Gateway != nil && (top.Kind == TargetMeshGateway || k.To == nil && top.includesGateways())
}

func decodeItems(name string, p *Policy, section *Section, values []*strict.Value) []Item {
	if values == nil || section == nil {
		return nil
	}
	items := make([]Item, len(values))
	place := p.Type.itemPlace(name, section, p.Mesh)
	var doc itemDoc
	for i, in := range values {
		doc = itemDoc{}
		if section.Inline {
			doc.TargetRef = in.Field("targetRef")
			items[i].Conf = section.Conf.Decode(in, "targetRef")
			checkItem(in.At(), "", &p.TargetRef, items[i].Conf)
		} else {
			strict.Decode(in, &doc)
			items[i].Conf = decodeConf(section, doc.Default)
			checkItem(in.At(), "default", &p.TargetRef, items[i].Conf)
		}
		items[i].Pos = in.Pos()
		items[i].TargetRef = decodeTargetRef(in.At(), doc.TargetRef, place)
	}
	return items
}

// decodeConf returns nil if the conf is absent or has errors.
func decodeConf(section *Section, in *strict.Value) Conf {
	if in == nil {
		return nil
	}
	return section.Conf.Decode(in)
}

// decodeRules reads the rules, or a default, which means one rule without
// matches (SPEC 2.3).
func decodeRules(spec *diag.At, kind *Kind, doc *policyDoc) []Rule {
	section := kind.Rules
	if section == nil {
		return nil
	}
	var rules []Rule
	if doc.Default != nil {
		if doc.Rules != nil {
			spec.Field("default").Errorf(diag.BothPresent, "it means one rule without matches", "default and rules are both present")
		}
		rules = []Rule{{Conf: decodeConf(section, doc.Default), Pos: doc.Default.Pos()}}
	}
	if doc.Rules == nil {
		return rules
	}
	rules = make([]Rule, len(doc.Rules))
	for i, in := range doc.Rules {
		var rule ruleDoc
		strict.Decode(in, &rule)
		rules[i] = Rule{Matches: rule.Matches, Conf: decodeConf(section, rule.Default), Pos: in.Pos()}
		section.checkRule(in.At(), kind, &rules[i])
	}
	return rules
}
