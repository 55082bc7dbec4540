package match_test

import (
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func selectedOf(policies []*resource.Policy) []results.Selected {
	out := make([]results.Selected, len(policies))
	for i, p := range policies {
		out[i].Policy = p
		out[i].Inbounds.Add(i % 3)
	}
	return out
}

func policiesOf(m results.Matched) []*resource.Policy {
	var out []*resource.Policy
	for i, s := range m.All() {
		if m.At(i) != s {
			panic("another policy is in its place")
		}
		out = append(out, s.Policy)
	}
	return out
}

func newPolicies(n int) []*resource.Policy {
	out := make([]*resource.Policy, n)
	for i := range out {
		out[i] = &resource.Policy{Meta: resource.Meta{ID: resource.ID{Name: fmt.Sprint(i)}}}
	}
	return out
}

// TestMatched replaces few and many policies in lists of all lengths around the page
// size.
func TestMatched(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 64, 100} {
		pager := matched.NewPager(maphash.MakeSeed())
		policies := newPolicies(n)
		selected := selectedOf(policies)
		m := pager.Matched(selected)
		if m.Len() != n || !slices.Equal(policiesOf(m), policies) || !match.SameMatched(m, selected) {
			t.Fatalf("%d policies: got %d", n, m.Len())
		}
		if n > 0 && (match.SameMatched(m, selected[1:]) || match.SameMatched(m, append(slices.Clone(selected[:n-1]), results.Selected{Policy: policies[n-1]}))) {
			t.Errorf("%d policies do not equal themselves", n)
		}
		for i := range n {
			for _, many := range []int{1, 3, 20} {
				versions := map[*resource.Policy]*resource.Policy{new(resource.Policy): new(resource.Policy)}
				want := slices.Clone(policies)
				for j := i; j < min(i+many, n); j++ {
					want[j] = new(resource.Policy)
					versions[policies[j]] = want[j]
				}
				next, any := new(match.Buffer).Replace(pager, m, versions)
				if !any || !match.SameMatched(next, selectedOf(want)) {
					t.Fatalf("%d policies with %d new ones from %d: got %v", n, many, i, policiesOf(next))
				}
				if !match.SameMatched(m, selected) {
					t.Fatal("the old list was changed")
				}
				var since, among []*resource.Policy
				for r := range match.Replaced(m, next) {
					if m.At(r.At).Policy != r.Old || next.At(r.At).Policy != r.Next || versions[r.Old] != r.Next {
						t.Fatal("another version, or another position")
					}
					since = append(since, r.Old)
				}
				for p := range match.Among(m, next, versions) {
					among = append(among, p)
				}
				for p := range match.Among(m, m, versions) {
					t.Fatalf("%s is yielded, which both lists share", p.Name)
				}
				if changed := policies[i:min(i+many, n)]; !slices.Equal(since, changed) || !slices.Equal(among, changed) {
					t.Fatalf("%d policies with %d new ones from %d: since %d, among %d", n, many, i, len(since), len(among))
				}
			}
		}
		if next, any := new(match.Buffer).Replace(pager, m, map[*resource.Policy]*resource.Policy{new(resource.Policy): new(resource.Policy)}); any || !match.SameMatched(next, selected) {
			t.Errorf("%d policies: one of another list was replaced", n)
		}
	}
}

// TestMatchedWithout removes policies at each position, in gaps of several
// sizes.
func TestMatchedWithout(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 64, 100} {
		pager := matched.NewPager(maphash.MakeSeed())
		policies := newPolicies(n)
		m := pager.Matched(selectedOf(policies))
		if again := match.Without(pager, m, nil); !match.SameWithout(again, m, nil) || again.Len() != n {
			t.Fatalf("%d policies without none are others", n)
		}
		for first := range n {
			for _, every := range []int{1, 2, 40, n} {
				var positions []int
				var want []results.Selected
				for i, s := range m.All() {
					if i >= first && (i-first)%every == 0 {
						positions = append(positions, i)
					} else {
						want = append(want, *s)
					}
				}
				got := match.Without(pager, m, positions)
				if !match.SameMatched(got, want) || len(policiesOf(got)) != len(want) || !slices.Equal(policiesOf(m), policies) {
					t.Fatalf("%d policies without %v: got %d", n, positions, got.Len())
				}
				if before := m.Pages()[0]; first >= len(before.Selected()) && got.Pages()[0] != before {
					t.Fatalf("%d policies without %v: the first page is not shared", n, positions)
				}
				if !match.SameWithout(got, m, positions) || match.SameWithout(m, m, positions) {
					t.Fatalf("%d policies without %v are not recognized", n, positions)
				}
				if others := append(positions[:len(positions)-1:len(positions)-1], n-1); first < n-1 && every == n && match.SameWithout(got, m, others) {
					t.Fatalf("%d policies without %v are those without %v", n, positions, others)
				}
			}
		}
	}
}

// A list whose policies are replaced and put back shares all pages with the first list: the
// hash of a page follows from its policies alone, whichever way they came into it.
func TestMatchedReplacedBack(t *testing.T) {
	policies := newPolicies(300)
	pager := matched.NewPager(maphash.MakeSeed())
	m := pager.Matched(selectedOf(policies))
	forth, back := map[*resource.Policy]*resource.Policy{}, map[*resource.Policy]*resource.Policy{}
	for i := 0; i < len(policies); i += 7 {
		next := new(resource.Policy)
		forth[policies[i]], back[next] = next, policies[i]
	}
	var buffer match.Buffer
	next, _ := buffer.Replace(pager, m, forth)
	again, _ := buffer.Replace(pager, next, back)
	if slices.Equal(next.Pages(), m.Pages()) || !slices.Equal(again.Pages(), m.Pages()) {
		t.Errorf("%d pages; not all are those of the first list", len(again.Pages()))
	}
}

// Lists can be compared even if their pages begin at different places: pages begin anew
// where a policy was removed.
func TestReplacedAcrossPages(t *testing.T) {
	for removed := range 100 {
		pager := matched.NewPager(maphash.MakeSeed())
		policies := newPolicies(300)
		others := slices.Delete(slices.Clone(policies), removed, removed+1)
		one := pager.Matched(selectedOf(policies[:100]))
		without := match.Without(pager, pager.Matched(selectedOf(policies)), []int{removed})
		again := make([]results.Selected, 0, len(others))
		for _, s := range without.All() {
			again = append(again, *s)
		}
		last := new(resource.Policy)
		again[len(again)-1].Policy = last
		for _, lists := range [][2]results.Matched{{without, pager.Matched(again)}, {pager.Matched(again), without}} {
			var at []int
			for r := range match.Replaced(lists[0], lists[1]) {
				at = append(at, r.At)
			}
			if !slices.Equal(at, []int{len(again) - 1}) {
				t.Fatalf("without policy %d: those at %v differ, want the last one", removed, at)
			}
		}
		// A policy that moves from the first place to the last one changes all places.
		moved := pager.Matched(append(selectedOf(policies[1:100]), selectedOf(policies[:1])...))
		places := 0
		for r := range match.Replaced(one, moved) {
			if r.At != places || r.Old != policies[r.At] || r.Next != policies[(r.At+1)%100] {
				t.Fatalf("place %d: %s became %s", r.At, r.Old.Name, r.Next.Name)
			}
			places++
		}
		if places != 100 {
			t.Fatalf("%d places differ, want all 100", places)
		}
	}
}

// Only the pages between those that two lists share at both ends are compared.
func TestUnshared(t *testing.T) {
	pager := matched.NewPager(maphash.MakeSeed())
	policies := newPolicies(1_000)
	m := pager.Matched(selectedOf(policies))
	pages := m.Pages()
	for i, page := range pages {
		old := page.Selected()[0].Policy
		next, _ := new(match.Buffer).Replace(pager, m, map[*resource.Policy]*resource.Policy{old: new(resource.Policy)})
		ofM, ofNext := match.Unshared(m, next)
		if !slices.Equal(ofM, pages[i:i+1]) || !slices.Equal(ofNext, next.Pages()[i:i+1]) {
			t.Fatalf("page %d of %d differs: got %d and %d pages", i, len(pages), len(ofM), len(ofNext))
		}
	}
	for name, part := range map[string][2]int{"beginning": {0, len(pages[0].Selected())}, "end": {m.Len() - len(pages[len(pages)-1].Selected()), m.Len()}} {
		short := pager.Matched(selectedOf(policies)[part[0]:part[1]])
		if ofShort, ofM := match.Unshared(short, m); len(ofShort) != 0 || len(ofM) != len(pages)-1 {
			t.Errorf("a list that is the %s of another one: %d and %d pages differ, want none and %d", name, len(ofShort), len(ofM), len(pages)-1)
		}
		if ofM, ofShort := match.Unshared(m, short); len(ofShort) != 0 || len(ofM) != len(pages)-1 {
			t.Errorf("a list and its %s: %d and %d pages differ, want %d and none", name, len(ofM), len(ofShort), len(pages)-1)
		}
	}
}

// An iteration that is stopped yields no more.
func TestMatchedStops(t *testing.T) {
	policies := newPolicies(40)
	pager := matched.NewPager(maphash.MakeSeed())
	m := pager.Matched(selectedOf(policies))
	versions := map[*resource.Policy]*resource.Policy{policies[1]: {}, policies[35]: {}}
	next, _ := new(match.Buffer).Replace(pager, m, versions)
	for name, count := range map[string]func() (n int){
		"All": func() (n int) { m.All()(func(int, *results.Selected) bool { n++; return false }); return n },
		"Since": func() (n int) {
			match.Replaced(m, next)(func(match.Replacement) bool { n++; return false })
			return n
		},
		"Among": func() (n int) {
			match.Among(m, results.Matched{}, versions)(func(*resource.Policy) bool { n++; return false })
			return n
		},
	} {
		if n := count(); n != 1 {
			t.Errorf("%s yielded %d", name, n)
		}
	}
}

// A new version of one policy among many costs one page.
func BenchmarkMatchedReplace(b *testing.B) {
	policies := newPolicies(1_090)
	seed := maphash.MakeSeed()
	pager := matched.NewPager(seed)
	m := pager.Matched(selectedOf(policies))
	versions := map[*resource.Policy]*resource.Policy{policies[500]: new(resource.Policy)}
	b.ReportAllocs()
	for b.Loop() {
		if _, any := new(match.Buffer).Replace(matched.NewPager(seed), m, versions); !any {
			b.Fatal("nothing was replaced")
		}
	}
}
