package rules_test

import (
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

func TestSelectedEqual(t *testing.T) {
	selected := func(p *resource.Policy, inbounds ...int) rules.Selected {
		s := rules.Selected{Policy: p}
		for _, i := range inbounds {
			s.Inbounds.Add(i)
		}
		return s
	}
	p, q := policy("K", "p", resource.TargetRef{}), policy("K", "p", resource.TargetRef{})
	for name, c := range map[string]struct {
		a, b rules.Selected
		want bool
	}{
		"the same":                       {selected(p, 1, 70), selected(p, 70, 1), true},
		"another version":                {selected(p, 1), selected(q, 1), false},
		"another inbound":                {selected(p, 1), selected(p, 2), false},
		"another inbound beyond 64":      {selected(p, 1, 70), selected(p, 1, 71), false},
		"one more inbound beyond 64":     {selected(p, 1), selected(p, 1, 64), false},
		"none, on one without inbounds":  {selected(p), selected(p), true},
		"one less in the words that are": {selected(p, 64, 70), selected(p, 70), false},
	} {
		if c.a.Equal(&c.b) != c.want || c.b.Equal(&c.a) != c.want {
			t.Errorf("%s: equal is %v", name, !c.want)
		}
	}
}

func TestInboundSet(t *testing.T) {
	var set rules.InboundSet
	in := []int{0, 5, 63, 64, 127, 128, 300}
	for _, i := range in {
		set.Add(i)
	}
	for i := range 400 {
		if set.Has(i) != slices.Contains(in, i) {
			t.Errorf("Has(%d) = %v", i, set.Has(i))
		}
	}
}
