package fuzz

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Generator makes scenarios over small alphabets from bytes. It is immutable and
// safe for concurrent use.
type Generator struct {
	kinds *resource.Kinds
	pools map[*resource.Section]pool
	kuma  bool // resources have the labels of Kuma's control planes (SPEC 17.1)
	// destinations adds destinations, and references to them (SPEC 17.3).
	destinations bool
	in           diag.Reading // how scenarios are read
	merge        mergeFunc    // see [WithMerge]
}

// NewGenerator prepares valid Confs of all kinds. It returns an error if it finds none
// for a kind. The texts are additional YAML values, for fields whose types accept none
// of the built-in texts.
func NewGenerator(kinds *resource.Kinds, texts ...string) (*Generator, error) {
	g := &Generator{kinds: kinds, pools: map[*resource.Section]pool{}, in: diag.AsTargetRef}
	letters := newAlphabet(texts)
	for _, kind := range kinds.All() {
		if err := checkTargets(kind); err != nil {
			return nil, err
		}
		for _, section := range kindSections(kind) {
			p, err := newPool(section, letters)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind.Name, err)
			}
			g.pools[section] = p
		}
	}
	return g, nil
}

// checkTargets returns an error if no targetRef is allowed in a policy of the kind or in
// an item: no file could contain such a policy, or such an item.
func checkTargets(kind *resource.Kind) error {
	switch {
	case len(kind.Top.Names()) == 0:
		return fmt.Errorf("fuzz: the kind %s has no targets at the top; set Top", kind.Name)
	case kind.To != nil && len(kind.To.Targets.Names()) == 0:
		return fmt.Errorf("fuzz: the items of to of the kind %s have no targets; set To.Targets", kind.Name)
	case kind.From != nil && len(kind.From.Targets.Names()) == 0:
		return fmt.Errorf("fuzz: the items of from of the kind %s have no targets; set From.Targets", kind.Name)
	}
	return nil
}

// WithKumaLabels returns the generator of scenarios whose resources have labels that
// Kuma's control planes write (SPEC 17.1).
func (g *Generator) WithKumaLabels() *Generator {
	labelled := *g
	labelled.kuma = true
	return &labelled
}

// WithDestinations returns the generator of scenarios with destinations, and references to
// them in dataplanes and policies (SPEC 17.3).
func (g *Generator) WithDestinations() *Generator {
	more := *g
	more.destinations = true
	return &more
}

// ReadBy returns the generator of scenarios that are read by some semantics, instead of
// [core.TargetRef]. They lack the documents that one of them refuses (SPEC 17.1).
func (g *Generator) ReadBy(all ...core.Semantics) *Generator {
	read := *g
	read.in = 0
	for _, s := range all {
		read.in |= s.Reading()
	}
	return &read
}

// WithConfs returns the generator of scenarios with those of its Confs, as trees of documents,
// for which keep returns true.
func (g *Generator) WithConfs(keep func(conf map[string]any) bool) *Generator {
	fewer := *g
	fewer.pools = map[*resource.Section]pool{}
	for section, all := range g.pools {
		for _, conf := range all {
			if keep(conf) {
				fewer.pools[section] = append(fewer.pools[section], conf)
			}
		}
	}
	return &fewer
}

// Kinds returns the kinds of the policies in scenarios.
func (g *Generator) Kinds() *resource.Kinds { return g.kinds }

// conf returns a Conf as the tree of a document. The caller must not change it.
func (g *Generator) conf(c *choices, section *resource.Section) map[string]any {
	return pick(c, g.pools[section]...)
}
