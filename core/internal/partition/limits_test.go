package partition

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// interleaved returns items of two tags whose keys are in the worst order for a
// diagram: an item of the highest priority names the first key of each item
// before any second key, so the diagram must record all of them.
func interleaved(n int) []Tags {
	top := Tags{"top": "v"}
	var items []Tags
	for i := range n {
		top[fmt.Sprintf("first-%02d", i)] = "w"
		items = append(items, Tags{fmt.Sprintf("first-%02d", i): "v", fmt.Sprintf("second-%02d", i): "v"})
	}
	return append(items, top)
}

func TestLimitsEndWhatHasNoSmallResult(t *testing.T) {
	distinct := distinctKeys(64)
	pairs := interleaved(40)
	cases := []struct {
		name     string
		run      func() error
		resource Resource
		keys     int
		items    int
	}{
		{"ordered form of 2^64 sets", func() error {
			_, err := Ordered(distinct, collecting{}, Limits{})
			return err
		}, RulesResource, 64, 64},
		{"partition into 2^64 contents", func() error {
			_, err := Build(predicatesOf(distinct), collecting{}, Limits{})
			return err
		}, RulesResource, 64, 64},
		{"diagram of 2^40 nodes with two contents", func() error {
			contents := make(anonymous, len(pairs))
			for i := range contents {
				contents[i][0] = 1
			}
			_, err := Build(predicatesOf(pairs), contents, Limits{})
			return err
		}, WorkResource, 81, 41},
		{"disjoint form of complements of pairs", func() error {
			var items []Tags
			for i := range 20 {
				items = append(items, Tags{fmt.Sprintf("a%02d", i): "v", fmt.Sprintf("b%02d", i): "v"})
			}
			p, err := Build(predicatesOf(items), wholeOverrides(20), Limits{})
			if err != nil {
				return fmt.Errorf("the diagram itself is small: %w", err)
			}
			_, err = p.Disjoint()
			return err
		}, RulesResource, 40, 20},
		{"predicate whose diagram has 2^40 nodes", func() error {
			_, err := Canonicalize(Or(predicatesOf(pairs)...), Limits{Work: 1 << 20})
			return err
		}, WorkResource, 81, 1},
		{"rules limit of the caller", func() error {
			_, err := Ordered(meshAndServices(5), wholeOverrides(5), Limits{Rules: 4})
			return err
		}, RulesResource, 1, 4},
		{"work limit of the caller", func() error {
			_, err := Ordered(distinctKeys(20), wholeOverrides(20), Limits{Work: 100})
			return err
		}, WorkResource, 20, 20},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.run()
			var limit *LimitError
			if !errors.As(err, &limit) {
				t.Fatalf("error %v", err)
			}
			if limit.Resource != c.resource || len(limit.Keys) != c.keys || len(limit.Items) != c.items {
				t.Errorf("%q, %d keys, %d items; want %q, %d, %d",
					limit.Resource, len(limit.Keys), len(limit.Items), c.resource, c.keys, c.items)
			}
		})
	}
}

// inTurn is an algebra of items that set one of a number of fields, in turn.
type inTurn struct{ fields int }

func (inTurn) Start() [5]int { return [5]int{} }

func (a inTurn) Add(s [5]int, item int) [5]int {
	if field := &s[item%a.fields]; *field == 0 {
		*field = item + 1
	}
	return s
}

func (a inTurn) Complete(s [5]int) bool { return !slices.Contains(s[:a.fields], 0) }

// A search with surveys fails if and only if it finds more rules than the limit.
func TestSurveysAreExact(t *testing.T) {
	for _, c := range []struct{ items, keys, fields int }{{60, 60, 2}, {80, 3, 3}, {40, 7, 4}, {20, 20, 5}, {1000, 2, 2}, {3000, 1, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			var items []Tags
			for i := range c.items {
				items = append(items, Tags{fmt.Sprint("key-", i%c.keys): fmt.Sprint("v", i/c.keys)})
			}
			contents := newContents(inTurn{c.fields})
			s := newSearch(items, contents.add, contents.isComplete, Limits{Rules: 1 << 20})
			s.survey.next = 0 // no survey is made
			s.descend(s.everything(), nothing)
			if s.found < 2*firstSurvey {
				t.Fatalf("%d rules: no survey is made", s.found)
			}
			for less, want := range []Resource{"", RulesResource} {
				var limit *LimitError
				_, err := Ordered(items, inTurn{c.fields}, Limits{Rules: s.found - less})
				if errors.As(err, &limit) != (want != "") || want != "" && limit.Resource != want {
					t.Errorf("%d rules and a limit of %d: the error %v", s.found, s.found-less, err)
				}
			}
		})
	}
}

// A search with many more rules than its limit stops early, although it is
// depth-first.
func TestWorkPastTheLimit(t *testing.T) {
	for _, c := range []struct{ items, keys, fields int }{{260, 260, 5}, {260, 20, 5}, {300, 2, 3}, {600, 3, 4}, {150, 10, 3}} {
		var items []Tags
		for i := range c.items {
			items = append(items, Tags{fmt.Sprint("key-", i%c.keys): fmt.Sprint("v", i/c.keys)})
		}
		var limit *LimitError
		if _, err := Ordered(items, inTurn{c.fields}, Limits{Work: 1 << 17}); !errors.As(err, &limit) || limit.Resource != RulesResource {
			t.Errorf("%d items, %d keys, %d fields: the error %v, want one of the number of rules", c.items, c.keys, c.fields, err)
		}
	}
}

// The cost must not be quadratic in the number of items that each name a service.
func TestWorkOfManyServices(t *testing.T) {
	const n = 5000
	items, limits := meshAndServices(n), Limits{Work: 25 * n}
	if rules, err := Ordered(items, wholeOverrides(n), limits); err != nil || len(rules) != n {
		t.Errorf("ordered: %d rules, %v", len(rules), err)
	}
	if rules, err := disjointRules(Build(predicatesOf(items), wholeOverrides(n), limits)); err != nil || rules != n {
		t.Errorf("disjoint: %d rules, %v", rules, err)
	}
}

// SPEC 5.5: the cost of k items with k keys that completely override each other is
// at most the square of k.
func TestWorkGrowsAtMostQuadratically(t *testing.T) {
	for _, k := range []int{5, 10, 20, 40, 80} {
		limits := Limits{Work: 10 * k * k}
		if rules, err := Ordered(distinctKeys(k), wholeOverrides(k), limits); err != nil || len(rules) != k {
			t.Errorf("ordered, %d keys: %d rules, %v", k, len(rules), err)
		}
		if rules, err := disjointRules(Build(predicatesOf(distinctKeys(k)), wholeOverrides(k), limits)); err != nil || rules != k {
			t.Errorf("disjoint, %d keys: %d rules, %v", k, rules, err)
		}
	}
}

// Because keys are ordered by priority, the cost is quadratic at most.
func TestOverrideChainIsAChainInPriorityOrder(t *testing.T) {
	items := predicatesOf(distinctKeys(20))
	p, err := Build(items, wholeOverrides(20), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for n, key := p.root, 19; key >= 0; n, key = n.other, key-1 {
		if got, want := p.domain.keys[n.key].name, fmt.Sprintf("key-%02d", key); got != want {
			t.Fatalf("asks %s, want %s", got, want)
		}
	}
}

// Functions that are called once per client do not allocate.
func TestHotPathsDoNotAllocate(t *testing.T) {
	items := predicatesOf(twoKeys(20))
	p, err := Build(items, wholeOverrides(20), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := p.Disjoint()
	if err != nil {
		t.Fatal(err)
	}
	set, err := Canonicalize(Or(items...), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	client := map[string]string{"kuma.io/service": "svc-4", "kuma.io/zone": "zone-7", "version": "v1"}
	want := merge(selecting(items, client), len(items), wholeOverrides(20))
	cases := []struct {
		name string
		run  func() bool
	}{
		{"Evaluate", func() bool { got, ok := p.Evaluate(client); return ok && got == want }},
		{"Match", func() bool { return rules.Match(client).Content == want }},
		{"Contains", func() bool { return set.Contains(client) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, func() {
				if !c.run() {
					t.Fatal("wrong answer")
				}
			}); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// Rules that exclude the same values share one list of them.
func TestExcludedValuesAreShared(t *testing.T) {
	items := meshAndServices(1000)
	for i := range 500 {
		items = append(items, Tags{"kuma.io/zone": fmt.Sprint("zone-", i)})
	}
	for i := range 999 { // the services decide first
		items = append(items, service(fmt.Sprintf("svc-%d", i+1)))
	}
	p, err := Build(predicatesOf(items), wholeOverrides(len(items)), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := p.Disjoint()
	if err != nil {
		t.Fatal(err)
	}
	lists := make(map[*string]int)
	for _, rule := range rules {
		for _, r := range rule.Selector {
			if len(r.Not) == 999 {
				lists[&r.Not[0]]++
			}
		}
	}
	if len(rules) != 1500 || len(lists) != 1 {
		t.Errorf("%d rules with %d lists of services", len(rules), len(lists))
	}
}
