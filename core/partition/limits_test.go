package partition

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// interleaved is items of two tags whose keys come in the worst order for a
// diagram: an item of the highest priority names the first key of all of them
// before any second key, so a diagram has to remember them all.
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
		{"tree of 2^64 leaves", func() error {
			_, err := BuildTree(predicatesOf(distinct), collecting{}, Limits{})
			return err
		}, RulesResource, 64, 64},
		{"predicate whose diagram has 2^40 nodes", func() error {
			_, err := Canonicalize(Or(predicatesOf(pairs)...), Limits{})
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
			start := time.Now()
			err := c.run()
			t.Logf("%v after %v", err, time.Since(start))
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

// What is found by looking at each item of a service once must not cost the
// square of their number.
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
