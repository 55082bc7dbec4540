package resource

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Policy is one policy of any kind, with its sugar expanded.
type Policy struct {
	Meta
	Type      *Kind
	TargetRef TargetRef
	// TargetPos is where the targetRef stands; the spec where it is left out.
	TargetPos strict.Position
	// The arrays in the order of the file; an item's index in its array is
	// what origins call it by.
	To, From []Item
	Rules    []Rule
	// Default is the one Conf of a kind without arrays, else nil. DefaultPos
	// is where it stands.
	Default    Conf
	DefaultPos strict.Position
}

// Shadow reports whether the policy only informs (SPEC 8.3).
func (p *Policy) Shadow() bool { return p.Labels.Value(EffectLabel) == "shadow" }

// KRI returns the policy's identifier.
func (p *Policy) KRI() string { return KRI(p.Type.Short, &p.Meta, "") }

// Item is an element of `to` or `from`.
type Item struct {
	TargetRef TargetRef
	Conf      Conf
	Pos       strict.Position
}

// Rule is an element of `rules`; no matches mean every request.
type Rule struct {
	Matches []conf.Match
	Conf    Conf
	Pos     strict.Position
}

type policyDoc struct {
	TargetRef *strict.At   `json:"targetRef,omitzero"`
	To        []*strict.At `json:"to,omitzero"`
	From      []*strict.At `json:"from,omitzero"`
	Rules     []*strict.At `json:"rules,omitzero"`
	Default   *strict.At   `json:"default,omitzero"`
}

type itemDoc struct {
	TargetRef *strict.At `json:"targetRef,omitzero"`
	Default   *strict.At `json:"default"`
}

type ruleDoc struct {
	Matches []conf.Match `json:"matches,omitzero"`
	Default *strict.At   `json:"default"`
}

// decodePolicy reads a policy's spec, going on after errors.
func decodePolicy(kind *Kind, meta Meta, spec *strict.At) *Policy {
	var doc policyDoc
	strict.Decode(spec, &doc)
	d := policyDecoder{kind: kind, mesh: meta.Mesh, spec: spec}
	p := &Policy{Meta: meta, Type: kind, TargetPos: spec.Field("targetRef").Pos()}
	p.TargetRef = decodeTargetRef(spec, doc.TargetRef, targetPlace{
		allowed: kind.Top, top: true, mesh: meta.Mesh, holder: "a top-level targetRef of " + kind.Name,
	})
	p.To = d.items("to", kind.To, doc.To)
	p.From = d.items("from", kind.From, doc.From)
	p.Rules = d.rules(doc)
	p.Default = d.single(doc.Default)
	if p.Default != nil {
		p.DefaultPos = doc.Default.Pos()
	}
	if doc.From != nil && (doc.Rules != nil || doc.Default != nil && kind.Rules != nil) && kind.From != nil {
		d.errorf("from", "rules take the place of from", "from and rules are both present")
	}
	return p
}

type policyDecoder struct {
	kind *Kind
	mesh string
	spec *strict.At
}

func (d *policyDecoder) errorf(field, hint, format string, args ...any) {
	d.spec.Field(field).Errorf(hint, format, args...)
}

func (d *policyDecoder) items(name string, section *Section, places []*strict.At) []Item {
	if places == nil {
		return nil
	}
	if section == nil {
		d.errorf(name, "it has "+d.kind.arrays(), "%s has no %s", d.kind.Name, name)
		return nil
	}
	items := make([]Item, len(places))
	for i, at := range places {
		items[i] = d.item(name, section, at)
	}
	return items
}

func (d *policyDecoder) item(name string, section *Section, at *strict.At) Item {
	var doc itemDoc
	item := Item{Pos: at.Pos()}
	if section.Inline {
		if at.Has("targetRef") {
			doc.TargetRef = at.Field("targetRef")
		}
		item.Conf = section.Conf.Decode(at, "targetRef")
	} else {
		strict.Decode(at, &doc)
		item.Conf = decodeConf(section, doc.Default)
	}
	item.TargetRef = decodeTargetRef(at, doc.TargetRef, targetPlace{
		allowed: section.Targets, mesh: d.mesh, holder: "a targetRef in " + name + " of " + d.kind.Name,
	})
	return item
}

// decodeConf returns nil where the conf is left out or in error.
func decodeConf(section *Section, at *strict.At) Conf {
	if at == nil {
		return nil
	}
	return section.Conf.Decode(at)
}

// rules reads `rules`, or the `default` that stands for one rule without
// matches (SPEC 2.3).
func (d *policyDecoder) rules(doc policyDoc) []Rule {
	section := d.kind.Rules
	if section == nil {
		if doc.Rules != nil {
			d.errorf("rules", "it has "+d.kind.arrays(), "%s has no rules", d.kind.Name)
		}
		return nil
	}
	var rules []Rule
	if doc.Default != nil {
		if doc.Rules != nil {
			d.errorf("default", "it stands for one rule without matches", "default and rules are both present")
		}
		rules = []Rule{{Conf: decodeConf(section, doc.Default), Pos: doc.Default.Pos()}}
	}
	if doc.Rules == nil {
		return rules
	}
	rules = make([]Rule, len(doc.Rules))
	for i, at := range doc.Rules {
		var rule ruleDoc
		strict.Decode(at, &rule)
		if rule.Matches != nil && !section.Matches {
			at.Field("matches").Errorf("remove it", "rules of %s have no matches", d.kind.Name)
		}
		rules[i] = Rule{Matches: rule.Matches, Conf: decodeConf(section, rule.Default), Pos: at.Pos()}
	}
	return rules
}

func (d *policyDecoder) single(at *strict.At) Conf {
	switch {
	case d.kind.Rules != nil:
		return nil // read by rules
	case d.kind.Default == nil:
		if at != nil {
			d.errorf("default", "it has "+d.kind.arrays(), "%s has no default of its own", d.kind.Name)
		}
		return nil
	case at == nil:
		d.errorf("default", "", "required field is missing")
	}
	return decodeConf(d.kind.Default, at)
}

// arrays names what the kind has, for hints.
func (k *Kind) arrays() string {
	names := ""
	for _, a := range []struct {
		name    string
		section *Section
	}{{"to", k.To}, {"from", k.From}, {"rules", k.Rules}, {"default", k.Default}} {
		if a.section == nil {
			continue
		}
		if names != "" {
			names += ", "
		}
		names += a.name
	}
	return names
}
