package variant

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// pairs returns the OR of all a_i & b_i. In the order of names all keys a come first, so
// a diagram has a node for each subset of them.
func pairs(n int) Constraint {
	var members []partition.Predicate
	for i := range n {
		members = append(members, partition.And(partition.Equal(fmt.Sprintf("a%03d", i), "v"), partition.Equal(fmt.Sprintf("b%03d", i), "v")))
	}
	return Constraint{predicate: partition.Or(members...)}
}

// parity holds if an odd number of n keys is present. All paths of its diagram have the
// same length, and its canonical form is exponential.
func parity(n int) Constraint {
	odd := partition.False()
	for i := range n {
		p := partition.Present(fmt.Sprintf("k%03d", i))
		odd = partition.Or(partition.And(p, partition.Not(odd)), partition.And(partition.Not(p), odd))
	}
	return Constraint{predicate: odd}
}

// Small constraints whose diagrams or canonical forms are large result in an error.
func TestHostileConstraints(t *testing.T) {
	wide := func(keys int) Constraint {
		var members []partition.Predicate
		for i := range keys {
			members = append(members, partition.Equal(fmt.Sprint("k", i), "v"))
		}
		return Constraint{predicate: partition.And(members...)}
	}
	for _, test := range []struct {
		name string
		c    Constraint
		fits bool
	}{
		{"few pairs", pairs(8), true},
		{"pairs of keys far apart", pairs(300), false},
		{"a parity with a short form", parity(6), true},
		{"a parity", parity(14), false},
		{"thousands of keys", wide(3_000), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, question := range map[string]func() error{
				"admission":   func() error { _, err := NewSet([]Constraint{test.c}); return err },
				"compilation": func() error { _, _, err := Compile([]Fragment{{test.c, map[string]any{"x": 1}}}); return err },
			} {
				err := question()
				var limit *partition.LimitError
				if test.fits == (err != nil) || err != nil && !errors.As(err, &limit) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

func TestParseLimits(t *testing.T) {
	nested := func(levels int) string {
		return strings.Repeat(`{"notConstraints":`, levels-1) + `{}` + strings.Repeat(`}`, levels-1)
	}
	lists := func(levels int) string {
		return strings.Repeat(`{"andConstraints":{"constraints":[`, levels-1) + `{"constraint":{"key":"k","exists":{}}}` + strings.Repeat(`]}}`, levels-1)
	}
	wide := func(nodes int) string {
		return `{"orConstraints":{"constraints":[{}` + strings.Repeat(`,{}`, nodes-2) + `]}}`
	}
	for _, test := range []struct{ name, text, want string }{
		{"32 levels", nested(32), ""},
		{"33 levels", nested(33), "the constraint has more than 32 levels"},
		{"32 levels of lists", lists(32), ""},
		{"33 levels of lists", lists(33), "the constraint has more than 32 levels"},
		{"a million levels", nested(1_000_000), "nested"},
		{"10,000 nodes", wide(10_000), ""},
		{"10,001 nodes", wide(10_001), "the constraint has more than 10000 nodes"},
		{"a million nodes", wide(1_000_000), "the constraint has more than 10000 nodes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := conf.Unmarshal([]byte(test.text), new(Constraint))
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "conf:1:")):
				t.Errorf("got error %.300v, want %s", err, test.want)
			case strings.Count(fmt.Sprint(err), "\n") > 5:
				t.Errorf("%d lines of errors", strings.Count(fmt.Sprint(err), "\n"))
			}
		})
	}
}
