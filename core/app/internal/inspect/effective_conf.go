package inspect

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// EffectiveConf is a merged conf with the items from which it was merged: the C
// of SPEC 10.
type EffectiveConf struct {
	Conf    resource.Conf      `json:"conf"`
	Origins []ItemRef          `json:"origins"`         // in the order applied: lowest priority first
	Fields  map[string]ItemRef `json:"fields,omitzero"` // by the JSON pointer of the leaf; with Options.Explain
	// Collectors contains, by the JSON pointers of references, the collectors to which the
	// conf sends telemetry; null for a reference that finds none (SPEC 17.3).
	Collectors map[string]*Collector `json:"collectors,omitzero"`
	// Overridden contains, by JSON pointer, the values that other items override, highest
	// priority first; with Options.Overridden.
	Overridden map[string][]OverriddenValue `json:"overridden,omitzero"`
}

// ItemRef is an item of a policy.
type ItemRef struct {
	KRI    string `json:"kri"`
	Source string `json:"source,omitempty"` // file:line of the item; with Options.Source
	Index  int    `json:"index"`
	// Default reports that the conf does not have the field, but Kuma's schema sets it.
	Default bool `json:"default,omitempty"` // in Fields
	// NoEffect is the reason why the proxy does not get the field, or "" if it
	// does.
	NoEffect string `json:"noEffect,omitempty"` // in Fields, with Options.NoEffect
	// Item is the policy's name and the item's field, such as "shop/web to[0]".
	Item string `json:"-"`
}

// NewEffectiveConf returns a conf of a section of a kind for printing, or nil
// for a nil conf, if no item applies.
func NewEffectiveConf(e *results.Effective, section *resource.Section, options Options) *EffectiveConf {
	if e == nil {
		return nil
	}
	c := &EffectiveConf{Conf: e.Conf, Origins: make([]ItemRef, len(e.Origins))}
	for i, o := range e.Origins {
		c.Origins[i] = options.Origin(o, section)
	}
	if options.Explain {
		c.Fields = map[string]ItemRef{}
		for pointer, o := range e.Fields() {
			origin := options.Origin(o, section)
			origin.Default = slices.Contains(o.Policy.SchemaDefaults, resource.SchemaDefault{Index: o.Index, Pointer: pointer})
			origin.NoEffect = options.noEffect(o, pointer)
			c.Fields[pointer] = origin
		}
	}
	c.Collectors = options.Collectors(e.Conf)
	if options.Overridden {
		c.Overridden = overriddenValues(e, e.Items(), section, options)
	}
	return c
}

func (options *Options) Origin(o results.Origin, section *resource.Section) ItemRef {
	field, pos := words.Item(o, section)
	origin := ItemRef{KRI: options.PolicyKRI(o.Policy), Index: o.Index, Item: o.Policy.Qualified() + " " + field}
	if options.Source {
		origin.Source = words.Source(pos)
	}
	return origin
}

// PolicyKRI returns the KRI of a policy in answers.
func (options *Options) PolicyKRI(p *resource.Policy) string {
	return options.Semantics.KRI(p.KRI(), &p.Meta)
}

// DataplaneKRI returns the KRI of a dataplane in answers.
func DataplaneKRI(view *core.View, d *resource.Dataplane) string {
	return view.Semantics().KRI(d.KRI(""), &d.Meta)
}

// QualifiedName returns the name of a dataplane, with its namespace if it has one.
func QualifiedName(d *resource.Dataplane) string { return d.Qualified() }
