package matched_test

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestSelectedEqual(t *testing.T) {
	selected := func(p *resource.Policy, inbounds ...int) matched.Selected {
		s := matched.Selected{Policy: p}
		for _, i := range inbounds {
			s.Inbounds.Add(i)
		}
		return s
	}
	p, q := policy("K", "p", resource.TargetRef{}), policy("K", "p", resource.TargetRef{})
	for name, c := range map[string]struct {
		a, b matched.Selected
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
	var set matched.InboundSet
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

func selectedPolicies(n int) []matched.Selected {
	selected := make([]matched.Selected, n)
	for i := range selected {
		selected[i].Policy = policy("K", fmt.Sprint(i), resource.TargetRef{})
	}
	return selected
}

// ForInbounds yields the policies that have items for inbounds, from any page.
func TestForInbounds(t *testing.T) {
	selected := selectedPolicies(1_000)
	var want []*resource.Policy
	for _, at := range []int{0, 500, 501, 999} {
		p := selected[at].Policy
		if p.Rules = make([]resource.Rule, 1); at == 500 {
			p.Rules, p.From = nil, make([]resource.Item, 1)
		}
		want = append(want, p)
	}
	selected[700].Policy.Rules = make([]resource.Rule, 1)
	selected[700].Policy.TargetRef.Kind = resource.TargetMeshHTTPRoute
	for name, m := range map[string]matched.Matched{
		"pages": matched.NewPager(maphash.MakeSeed()).Matched(selected), "one page": matched.NewMatched(selected),
	} {
		var got []*resource.Policy
		for s := range m.ForInbounds() {
			got = append(got, s.Policy)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d policies, want %d", name, len(got), len(want))
		}
	}
}

// All, At and Len agree for lists of one and of several pages.
func TestMatchedPages(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 1_000} {
		selected := selectedPolicies(n)
		m := matched.NewPager(maphash.MakeSeed()).Matched(selected)
		next := 0
		for i, s := range m.All() {
			if i != next || s != m.At(i) || s.Policy != selected[i].Policy {
				t.Errorf("%d policies: All yields another one at %d", n, i)
			}
			next++
		}
		for i, below := n-1, m.Below(); i >= 0; i -= 3 {
			for range 2 { // the second time of the page that is kept
				if below.At(i) != m.At(i) {
					t.Errorf("%d policies: Below yields another one at %d", n, i)
				}
			}
		}
		if m.Len() != n || next != n {
			t.Errorf("%d policies: the length is %d, and All yields %d", n, m.Len(), next)
		}
	}
	last := -1
	for i := range matched.NewPager(maphash.MakeSeed()).Matched(selectedPolicies(400)).All() {
		if last = i; i == 135 {
			break
		}
	}
	if last != 135 {
		t.Errorf("a loop that ends at 135 ended at %d", last)
	}
}

// Lists share each page with the same policies and inbounds, wherever policies are
// missing from one of the lists.
func TestPager(t *testing.T) {
	const n = 4_000
	selected := selectedPolicies(n)
	seed := maphash.MakeSeed()
	pager := matched.NewPager(seed)
	all := pager.Matched(selected)
	if pages := len(all.Pages()); pages < n/128 || pages > n/8 {
		t.Errorf("%d policies have %d pages", n, pages)
	}
	differ := func(name string, m matched.Matched, most int) {
		t.Helper()
		own := 0
		for _, page := range m.Pages() {
			if !slices.Contains(all.Pages(), page) {
				own++
			}
		}
		if own > most {
			t.Errorf("%s: %d pages are not shared, want at most %d", name, own, most)
		}
	}
	for _, missing := range []int{0, 1, 1_000, n - 1} {
		differ(fmt.Sprintf("without %d", missing), pager.Matched(slices.Delete(slices.Clone(selected), missing, missing+1)), 2)
	}
	differ("the same", pager.Matched(slices.Clone(selected)), 0)
	inbound := slices.Clone(selected)
	inbound[7].Inbounds.Add(1)
	one := pager.Matched(inbound)
	differ("with another inbound", one, 1)
	if all.At(7).Inbounds.Has(1) || !one.At(7).Inbounds.Has(1) {
		t.Error("a page is shared whose inbounds differ")
	}
	if again, edited := pager.Replace(all, func(*matched.Page) []matched.Selected { return nil }); edited || again.Len() != n {
		t.Error("a list without edits is another one")
	}
	copied := slices.Clone(selected)
	m := pager.Matched(copied)
	copied[0].Policy = nil
	if m.At(0).Policy == nil {
		t.Error("the memory of a caller is in a list")
	}
}

// A list that is made after an earlier one, by another pager, has the policies that it is given
// and shares the pages without a difference, also those after one.
func TestPagerAfter(t *testing.T) {
	const n = 4_000
	selected := selectedPolicies(n + 1)
	extra := selected[n]
	selected = selected[:n]
	seed := maphash.MakeSeed()
	earlier := matched.NewPager(seed).Matched(selected)
	otherInbound := slices.Clone(selected)
	otherInbound[2_000].Inbounds.Add(1)
	swapped := slices.Clone(selected)
	swapped[1_000], swapped[3_000] = swapped[3_000], swapped[1_000]
	for name, c := range map[string]struct {
		selected []matched.Selected
		own      int // at most so many pages are not shared
	}{
		"the same":                  {selected, 0},
		"without the first":         {selected[1:], 1},
		"without the last":          {selected[:n-1], 1},
		"without one":               {slices.Delete(slices.Clone(selected), 2_000, 2_001), 2},
		"without many":              {slices.Delete(slices.Clone(selected), 1_000, 2_000), 2},
		"one at the beginning":      {slices.Insert(slices.Clone(selected), 0, extra), 2},
		"one more":                  {slices.Insert(slices.Clone(selected), 2_000, extra), 2},
		"one at the end":            {append(slices.Clone(selected), extra), 2},
		"another inbound":           {otherInbound, 1},
		"two in each other's place": {swapped, 4},
		"nothing":                   {nil, 0},
	} {
		pager := matched.NewPager(seed)
		m := pager.After(earlier, c.selected)
		own, at := 0, 0
		for _, page := range m.Pages() {
			if !slices.Contains(earlier.Pages(), page) {
				own++
			}
		}
		if own > c.own {
			t.Errorf("%s: %d pages are not shared, want at most %d", name, own, c.own)
		}
		for i, s := range m.All() {
			if at = i + 1; !s.Equal(&c.selected[i]) {
				t.Fatalf("%s: another policy at %d", name, i)
			}
		}
		if at != len(c.selected) || m.Len() != at {
			t.Errorf("%s: %d policies and the length %d, want %d", name, at, m.Len(), len(c.selected))
		}
		// The pages end where they end without an earlier list.
		if fresh := pager.Matched(c.selected); len(fresh.Pages()) != len(m.Pages()) {
			t.Errorf("%s: %d pages, and %d without an earlier list", name, len(m.Pages()), len(fresh.Pages()))
		}
	}
}

// Slots returns the slots of the policies that have one, by the function of the first call.
func TestPageSlots(t *testing.T) {
	selected := selectedPolicies(6)
	slots := map[*resource.Policy]uint32{}
	for i, slot := range []uint32{0, 63, 64, 200, 3} {
		slots[selected[i].Policy] = slot
	}
	page := matched.NewMatched(selected).Pages()[0]
	calls := 0
	of := func(p *resource.Policy) (uint32, bool) {
		calls++
		slot, has := slots[p]
		return slot, has
	}
	for range 2 {
		got := map[uint32]uint64{}
		for _, w := range page.Slots(of) {
			got[w.At] |= w.Bits
		}
		want := map[uint32]uint64{0: 1 | 1<<3 | 1<<63, 1: 1, 3: 1 << (200 % 64)}
		if !maps.Equal(got, want) || len(page.Slots(of)) != len(want) {
			t.Errorf("the slots are %v, want %v", got, want)
		}
	}
	if calls != len(selected) {
		t.Errorf("the slots of %d policies were found by %d calls", len(selected), calls)
	}
}

// BenchmarkPager makes a list of 1,000 policies: from nothing, and from an earlier list that
// lacks one of them, as for a class of dataplanes that one more policy selects.
func BenchmarkPager(b *testing.B) {
	selected := selectedPolicies(1_000)
	seed := maphash.MakeSeed()
	similar := matched.NewPager(seed).Matched(slices.Delete(slices.Clone(selected), 500, 501))
	for name, earlier := range map[string]matched.Matched{"none": {}, "similar": similar} {
		b.Run("earlier="+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m := matched.NewPager(seed).After(earlier, selected); m.Len() != len(selected) {
					b.Fatal(m.Len())
				}
			}
		})
	}
}

func policy(kind, name string, target resource.TargetRef) *resource.Policy {
	return &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: kind, Mesh: "default", Name: name}}, TargetRef: target}
}
