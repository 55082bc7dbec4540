package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Regions with equal contents are one: they count once for the limit.
func TestEqualRegionsCountOnce(t *testing.T) {
	var items []Predicate
	for i := range 4 {
		items = append(items, Equal(fmt.Sprint("k", i), "v"))
	}
	for limit, passes := range map[int]bool{2: true, 1: false} {
		p, err := Build(items, collecting{}, Limits{Regions: limit})
		if err != nil {
			t.Fatal(err)
		}
		contents, _, err := Regions(p, func(set uint64) uint64 { return set % 2 })
		var past *LimitError
		if errors.As(err, &past) == passes || passes && len(contents) != 2 {
			t.Errorf("16 sets of two contents, and a limit of %d: %v, %v", limit, contents, err)
		}
	}
}

// A disjoint form of exactly as many rules as the limit is made.
func TestDisjointRulesAtTheLimit(t *testing.T) {
	items := predicatesOf(distinctKeys(6))
	rules, err := disjointRules(Build(items, collecting{}, Limits{}))
	if err != nil || rules != 63 { // all sets of items but the empty one
		t.Fatalf("%d rules, %v", rules, err)
	}
	for limit, passes := range map[int]bool{rules: true, rules - 1: false} {
		p, err := Build(items, collecting{}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		p.limits.Rules = limit // of the form alone
		if _, err := p.Disjoint(); (err == nil) != passes {
			t.Errorf("%d rules, and a limit of %d: %v", rules, limit, err)
		}
	}
}

// firstValue merges contents in which only the highest item counts; several items have the
// same.
type firstValue []uint8

func (firstValue) Start() uint8 { return 0 }

func (a firstValue) Add(s uint8, item int) uint8 {
	if s != 0 {
		return s
	}
	return a[item]
}

// A rule is left out, or joined with another one, only if each of its clients has the same
// content without it, whichever values the rules require of several keys.
func TestRulesLeftOutMakeNoDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	for range 2 * instances {
		var items []Tags
		var contents firstValue
		for range 6 {
			tags := Tags{}
			for _, key := range []string{"a", "b", "c"} {
				if r.IntN(3) > 0 {
					tags[key] = []string{"x", "y", "z", Any}[r.IntN(4)]
				}
			}
			items, contents = append(items, tags), append(contents, uint8(1+r.IntN(2)))
		}
		predicates := predicatesOf(items)
		ordered, err := Ordered(items, contents, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Build(predicates, contents, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		disjoint, err := p.Disjoint()
		if err != nil {
			t.Fatal(err)
		}
		for _, client := range everyClient(predicates...) {
			want := merge(selecting(predicates, client), len(items), contents)
			for _, rules := range []Rules[uint8]{ordered, disjoint} {
				got := uint8(0)
				if rule := rules.Match(client); rule != nil {
					got = rule.Content
				}
				if got != want {
					t.Fatalf("%v with the contents %v: %v has %d, want %d", items, contents, client, got, want)
				}
			}
		}
	}
}

// A word needs no quotes in a text if it is valid as a tag key (SPEC 1.2), up to the first
// and the last letter and digit.
func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"azAZ09._:/-": "azAZ09._:/-",
		"":            `""`,
		"a b":         `"a b"`,
		"é":           `"é"`,
		"`":           "\"`\"", "{": `"{"`, "@": `"@"`, "[": `"["`, ";": `";"`, ",": `","`,
	} {
		if got := quote(word); got != want {
			t.Errorf("%q is quoted as %s, want %s", word, got, want)
		}
	}
}
