package partition

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// The size and the levels of a canonical form are counted without writing it. For
// the written form the counts are exact, so that the limits hold; for the flat form they are
// estimates.
func TestSizesOfCanonicalForms(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 12))
	for range instances {
		p := randomPredicate(r, 4)
		b, roots := compileByName([]Predicate{p}, Limits{})
		w := &formWriter{builder: b, memo: make(map[*node]form), edges: make(map[*node][]edge)}
		nested := w.form(roots[0])
		if nested.size != nested.predicate.Nodes() || nested.levels != levelsOf(nested.predicate) {
			t.Fatalf("%s: %d nodes in %d levels, counted as %d in %d", nested.predicate, nested.predicate.Nodes(), levelsOf(nested.predicate), nested.size, nested.levels)
		}
		if roots[0].isTerminal() { // it has no deep form
			continue
		}
		flat, ok := w.flat(roots[0])
		if !ok || flat.size < flat.predicate.Nodes()-1 || flat.size > 2*flat.predicate.Nodes() || levelsOf(flat.predicate) > flat.levels {
			t.Fatalf("%s: %d nodes in %d levels, counted as %d in %d", flat.predicate, flat.predicate.Nodes(), levelsOf(flat.predicate), flat.size, flat.levels)
		}
	}
}

func levelsOf(p Predicate) int {
	levels := 0
	for _, m := range p.Members() {
		levels = max(levels, levelsOf(m))
	}
	return levels + 1
}

// A form of as many levels as SPEC 9.1 allows is nested, and a deeper one flat.
func TestLevelsOfCanonicalForms(t *testing.T) {
	for levels, nested := range map[int]bool{maxLevels: true, maxLevels + 1: false} {
		p := Equal(fmt.Sprintf("key-%02d", levels), "v")
		for i := levels - 1; i > 0; i-- {
			join := And
			if i%2 == 0 {
				join = Or
			}
			p = join(Equal(fmt.Sprintf("key-%02d", i), "v"), p)
		}
		set, err := Canonicalize(p, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := levelsOf(set.Predicate()); nested && got != levels || !nested && got > 4 {
			t.Errorf("a predicate of %d levels has a canonical form of %d", levels, got)
		}
	}
}

// Of several overlaps, the one of the first predicate that overlaps an earlier one is
// reported, with the first of those.
func TestFirstOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 21))
	overlaps := 0
	for range instances {
		var predicates []Predicate
		for range 5 {
			predicates = append(predicates, And(randomPredicate(r, 2), randomPredicate(r, 2)))
		}
		clients := everyClient(predicates...)
		first, second := -1, -1
		for j := range predicates {
			for i := range j {
				for _, client := range clients {
					if second < 0 && predicates[i].Accepts(client) && predicates[j].Accepts(client) {
						first, second = i, j
					}
				}
			}
		}
		_, overlap, err := NewChoice(predicates, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if (overlap != nil) != (second >= 0) || overlap != nil && (overlap.First != first || overlap.Second != second) {
			t.Fatalf("%v: overlap %v, want %d and %d", predicates, overlap, first, second)
		}
		if overlap != nil {
			overlaps++
		}
	}
	if overlaps == 0 || overlaps == instances {
		t.Errorf("%d of %d lists overlap", overlaps, instances)
	}
}

// The error of a limit names five keys, and says whether there are more.
func TestTextOfLimitErrors(t *testing.T) {
	for keys, want := range map[int]string{
		5: "partition: 5 items over 5 keys (key-04, key-03, key-02, key-01, key-00) need more than 1 rules",
		6: "partition: 6 items over 6 keys (key-05, key-04, key-03, key-02, key-01, ...) need more than 1 rules",
	} {
		var limit *LimitError
		_, err := Ordered(distinctKeys(keys), collecting{}, Limits{Rules: 1})
		if !errors.As(err, &limit) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
