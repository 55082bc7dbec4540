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
		"the same":                                {selected(p, 1, 70), selected(p, 70, 1), true},
		"another version":                         {selected(p, 1), selected(q, 1), false},
		"another inbound":                         {selected(p, 1), selected(p, 2), false},
		"another inbound beyond 64":               {selected(p, 1, 70), selected(p, 1, 71), false},
		"one more inbound beyond 64":              {selected(p, 1), selected(p, 1, 64), false},
		"no inbounds, on a dataplane without any": {selected(p), selected(p), true},
		"one less, beyond 64":                     {selected(p, 64, 70), selected(p, 70), false},
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

// All, At and Len agree at the ends of pages, and lists may share pages.
func TestMatchedPages(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 64, 65} {
		selected := make([]rules.Selected, n)
		for i := range selected {
			selected[i].Policy = policy("K", "p", resource.TargetRef{})
		}
		m := rules.NewMatched(selected)
		next := 0
		for i, s := range m.All() {
			if i != next || s != m.At(i) || s.Policy != selected[i].Policy {
				t.Errorf("%d policies: All yields another one at %d", n, i)
			}
			next++
		}
		if m.Len() != n || next != n {
			t.Errorf("%d policies: the length is %d, and All yields %d", n, m.Len(), next)
		}
		if n < 33 {
			continue
		}
		pages := slices.Clone(m.Pages())
		pages[1] = slices.Clone(pages[1])
		pages[1][0].Policy = policy("K", "q", resource.TargetRef{})
		other := m.WithPages(pages)
		if other.Len() != n || other.At(0) != m.At(0) || other.At(32).Policy.Name != "q" || m.At(32).Policy.Name != "p" {
			t.Errorf("%d policies: the list with another page differs elsewhere", n)
		}
	}
	last := -1
	for i := range rules.NewMatched(make([]rules.Selected, 40)).All() {
		if last = i; i == 35 {
			break
		}
	}
	if last != 35 {
		t.Errorf("a loop that ends at 35 ended at %d", last)
	}
}
