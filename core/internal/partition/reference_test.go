package partition

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// The reference evaluates SPEC 5.1 in its simplest form for every client that could
// exist. SPEC 5.3 defines them: for each key, each mentioned value, another value,
// or absent.

// everyClient returns all clients that predicates can distinguish, and more: it
// uses two values that no predicate mentions, which the package does not
// distinguish.
func everyClient(predicates ...Predicate) []map[string]string {
	var literals []literal
	for _, p := range predicates {
		literals = p.literals(literals)
	}
	values := make(map[string][]string)
	for _, l := range literals {
		values[l.key] = append(values[l.key], l.value)
	}
	clients := []map[string]string{{}}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		mentioned := append(values[key], "unmentioned")
		slices.Sort(mentioned)
		mentioned = slices.Compact(mentioned)
		for _, client := range clients {
			for _, value := range mentioned {
				if value == "" { // a mention of the key alone
					continue
				}
				extended := maps.Clone(client)
				extended[key] = value
				clients = append(clients, extended)
			}
		}
	}
	return clients
}

// selecting returns the items that select the client, as a set of bits.
func selecting(items []Predicate, client map[string]string) (set uint64) {
	for i, item := range items {
		if item.Accepts(client) {
			set |= 1 << i
		}
	}
	return set
}

// merge adds the items of the set from the highest priority down.
func merge[S comparable](set uint64, items int, algebra Algebra[S]) S {
	state := algebra.Start()
	for i := items - 1; i >= 0; i-- {
		if set&(1<<i) != 0 {
			state = algebra.Add(state, i)
		}
	}
	return state
}

// distinctSets counts the sets of items that select some client, except the
// empty set: the bound of SPEC 5.4.
func distinctSets(items []Predicate, clients []map[string]string) int {
	sets := make(map[uint64]bool)
	for _, client := range clients {
		sets[selecting(items, client)] = true
	}
	delete(sets, 0)
	return len(sets)
}

// overriding merges contents of a few fields and records their origins, like a
// conf (SPEC 6). Item i sets the fields in its bits.
type overriding []uint8

type filled struct {
	fields  uint8
	origins uint64
}

func (overriding) Start() filled { return filled{} }

func (a overriding) Add(s filled, item int) filled {
	if a[item]&^s.fields == 0 {
		return s
	}
	return filled{s.fields | a[item], s.origins | 1<<item}
}

// anonymous merges contents of a few fields without their origins, like the
// content of a variant: different items may set the same value.
type anonymous [][3]uint8

func (anonymous) Start() [3]uint8 { return [3]uint8{} }

func (a anonymous) Add(s [3]uint8, item int) [3]uint8 {
	for field, value := range a[item] {
		if s[field] == 0 {
			s[field] = value
		}
	}
	return s
}

// collecting keeps every item; no item overrides another.
type collecting struct{}

func (collecting) Start() uint64                 { return 0 }
func (collecting) Add(s uint64, item int) uint64 { return s | 1<<item }

// The alphabets are small so that predicates overlap.
var (
	testKeys   = []string{"a", "b", "c"}
	testValues = []string{"x", "y"}
)

func randomTags(r *rand.Rand, most int) Tags {
	tags := Tags{}
	for range r.IntN(most + 1) {
		tags[testKeys[r.IntN(len(testKeys))]] = append(testValues, Any)[r.IntN(len(testValues)+1)]
	}
	return tags
}

func randomPredicate(r *rand.Rand, depth int) Predicate {
	key := testKeys[r.IntN(len(testKeys))]
	if depth == 0 || r.IntN(3) == 0 {
		if r.IntN(3) == 0 {
			return Present(key)
		}
		return Equal(key, testValues[r.IntN(len(testValues))])
	}
	if r.IntN(4) == 0 {
		return Not(randomPredicate(r, depth-1))
	}
	members := make([]Predicate, r.IntN(4))
	for i := range members {
		members[i] = randomPredicate(r, depth-1)
	}
	if r.IntN(2) == 0 {
		return And(members...)
	}
	return Or(members...)
}

func randomOverriding(r *rand.Rand, items int) overriding {
	a := make(overriding, items)
	for i := range a {
		a[i] = uint8(r.IntN(8)) // may be 0: an item with an empty conf
	}
	return a
}

func randomAnonymous(r *rand.Rand, items int) anonymous {
	a := make(anonymous, items)
	for i := range a {
		for field := range a[i] {
			a[i][field] = uint8(r.IntN(3))
		}
	}
	return a
}

func predicatesOf(items []Tags) []Predicate {
	predicates := make([]Predicate, len(items))
	for i, tags := range items {
		predicates[i] = tags.Predicate()
	}
	return predicates
}

// instance prints a random instance for a failure message.
func instance(items []Predicate, algebra any) string {
	text := fmt.Sprintf("algebra %v\n", algebra)
	for i, item := range items {
		text += fmt.Sprintf("item %d: %s\n", i, item)
	}
	return text
}

// checkPartition compares Evaluate, Disjoint and Regions with the reference.
func checkPartition[S comparable](t testing.TB, items []Predicate, algebra Algebra[S]) {
	t.Helper()
	p, err := Build(items, algebra, Limits{})
	if err != nil {
		t.Fatalf("Build: %v\n%s", err, instance(items, algebra))
	}
	disjoint, err := p.Disjoint()
	if err != nil {
		t.Fatalf("Disjoint: %v\n%s", err, instance(items, algebra))
	}
	regions, err := regionsOf(p)
	if err != nil {
		t.Fatalf("Regions: %v\n%s", err, instance(items, algebra))
	}
	clients := everyClient(items...)
	occurring := make(map[S]bool)
	for _, client := range clients {
		set := selecting(items, client)
		want := merge(set, len(items), algebra)
		occurring[want] = true
		if got, selected := p.Evaluate(client); got != want || selected != (set != 0) {
			t.Fatalf("Evaluate(%v) = %v, %v; want %v, %v\n%s", client, got, selected, want, set != 0, instance(items, algebra))
		}
		checkExactlyOne(t, disjoint, client, want, set != 0, instance(items, algebra))
		containing := 0
		for _, region := range regions {
			in := region.Clients.Contains(client)
			if in != (region.Content == want) {
				t.Fatalf("region %v contains %v: %v; content is %v\n%s", region.Content, client, in, want, instance(items, algebra))
			}
			if in != region.Clients.Predicate().Accepts(client) {
				t.Fatalf("canonical form %s wrong for %v\n%s", region.Clients.Predicate(), client, instance(items, algebra))
			}
			if in {
				containing++
			}
		}
		if containing != 1 {
			t.Fatalf("%d regions contain %v\n%s", containing, client, instance(items, algebra))
		}
	}
	if len(regions) != len(occurring) {
		t.Fatalf("%d regions for %d contents\n%s", len(regions), len(occurring), instance(items, algebra))
	}
}

func checkExactlyOne[S comparable](t testing.TB, rules Rules[S], client map[string]string, want S, selected bool, about string) {
	t.Helper()
	matches := 0
	for _, rule := range rules {
		if rule.Selector.Matches(client) != rule.Selector.Predicate().Accepts(client) {
			t.Fatalf("selector %s and its predicate %s differ for %v", rule.Selector, rule.Selector.Predicate(), client)
		}
		if !rule.Selector.Matches(client) {
			continue
		}
		matches++
		if rule.Content != want {
			t.Fatalf("rule %s gives %v to %v, want %v\n%s", rule.Selector, rule.Content, client, want, about)
		}
	}
	if matches != map[bool]int{true: 1, false: 0}[selected] {
		t.Fatalf("%d rules of %v select %v\n%s", matches, rules, client, about)
	}
}

// checkOrdered compares the first-match form with the reference.
func checkOrdered[S comparable](t testing.TB, items []Tags, algebra Algebra[S]) {
	t.Helper()
	predicates := predicatesOf(items)
	rules, err := Ordered(items, algebra, Limits{})
	if err != nil {
		t.Fatalf("Ordered: %v\n%s", err, instance(predicates, algebra))
	}
	clients := everyClient(predicates...)
	for _, client := range clients {
		set := selecting(predicates, client)
		want := merge(set, len(items), algebra)
		rule := rules.Match(client)
		if (rule != nil) != (set != 0) || rule != nil && rule.Content != want {
			t.Fatalf("first match of %v in %v is not %v\n%s", client, rules, want, instance(predicates, algebra))
		}
	}
	if bound := distinctSets(predicates, clients); len(rules) > bound {
		t.Fatalf("%d rules for %d sets of items: %v\n%s", len(rules), bound, rules, instance(predicates, algebra))
	}
	for _, rule := range rules {
		for _, r := range rule.Selector {
			if r.Kind != Is && (r.Kind != Exists || len(r.Not) > 0) {
				t.Fatalf("selector %s is not positive", rule.Selector)
			}
		}
	}
}
