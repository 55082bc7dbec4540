package partition

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCanonicalForm(t *testing.T) {
	env, v1 := Equal("env", "prod"), Equal("version", "v1")
	cases := []struct {
		name string
		p    Predicate
		want string
		keys string
	}{
		{"true", And(), "TRUE", "[]"},
		{"false", Or(), "FALSE", "[]"},
		{"tautology", Or(env, Not(env)), "TRUE", "[]"},
		{"contradiction over one key", And(env, Equal("env", "test")), "FALSE", "[]"},
		{"a key that makes no difference", And(env, Or(v1, Not(v1))), "env=prod", "[env]"},
		{"a value implies presence", And(env, Present("env")), "env=prod", "[env]"},
		{"both orders", And(v1, env), "env=prod AND version=v1", "[env version]"},
		{"either", Or(v1, env), "env=prod OR version=v1", "[env version]"},
		{"neither, by De Morgan", Not(Or(v1, env)), "NOT env=prod AND NOT version=v1", "[env version]"},
		{"one of three values", Or(Equal("env", "test"), env, Equal("env", "qa")), "env=prod OR env=qa OR env=test", "[env]"},
		{"other values only", And(Present("env"), Not(env)), "env=* AND NOT env=prod", "[env]"},
		{"a value or nothing", Or(env, Not(Present("env"))), "env=prod OR NOT env=*", "[env]"},
		{"no value", Not(Present("env")), "NOT env=*", "[env]"},
		{"exclusive or", Or(And(env, Not(v1)), And(v1, Not(env))),
			"(env=prod AND NOT version=v1) OR (NOT env=prod AND version=v1)", "[env version]"},
		{"empty value", Equal("env", ""), `env=""`, "[env]"},
		{"deep, so written flat", chain(), "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			set, err := Canonicalize(c.p, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			form := set.Predicate()
			if c.want != "" && (form.String() != c.want || fmt.Sprint(keysOf(set)) != c.keys) {
				t.Errorf("form %s, keys %s; want %s, %s", form, keysOf(set), c.want, c.keys)
			}
			if same, err := Equivalent(c.p, form, Limits{}); err != nil || !same {
				t.Errorf("%s accepts other clients than %s, %v", form, c.p, err)
			}
			if n := levels(form); n > 32 {
				t.Errorf("%d levels, SPEC 9.1 allows 32", n)
			}
		})
	}
}

// chain is NOT k00=v AND (k01=v OR (NOT k02=v AND ...: 40 levels.
func chain() Predicate {
	p := False()
	for i := 38; i >= 0; i -= 2 {
		p = And(Not(Equal(fmt.Sprintf("k%02d", i), "v")), Or(Equal(fmt.Sprintf("k%02d", i+1), "v"), p))
	}
	return p
}

// The flat form does not depend on the order in which values are mentioned
// either.
func TestFlatFormOfARegion(t *testing.T) {
	low := And(Not(Equal("k00", "v")), Equal("k01", "a"))
	p, err := Build([]Predicate{low, chain()}, named{"X", "X"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	regions, err := regionsOf(p)
	if err != nil || len(regions) != 2 {
		t.Fatalf("%v, %v", regions, err)
	}
	set, err := Canonicalize(Or(low, chain()), Limits{})
	if got, want := regions[1].Clients.Predicate().String(), set.Predicate().String(); err != nil || got != want {
		t.Errorf("region\n%s\nset\n%s, %v", got, want, err)
	}
}

func levels(p Predicate) int {
	n := 0
	for _, member := range p.members {
		n = max(n, levels(member))
	}
	return n + 1
}

// All operations on random predicates agree with a test of every client.
func TestSetsAgreeWithEveryClient(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 3))
	for range instances {
		predicates := make([]Predicate, 2+r.IntN(2))
		for i := range predicates {
			predicates[i] = randomPredicate(r, 3)
		}
		checkSets(t, predicates)
	}
}

func checkSets(t testing.TB, predicates []Predicate) {
	t.Helper()
	about := instance(predicates, "")
	clients := everyClient(predicates...)
	sets := make([]Clients, len(predicates))
	for i, p := range predicates {
		set, err := Canonicalize(p, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		sets[i] = set
		some := false
		for _, client := range clients {
			if accepts := p.Accepts(client); set.Contains(client) != accepts || set.Predicate().Accepts(client) != accepts {
				t.Fatalf("%s, canonical %s: wrong for %v", p, set.Predicate(), client)
			} else if accepts {
				some = true
			}
		}
		if witness, ok := set.Witness(); ok != some || ok && !p.Accepts(witness) {
			t.Fatalf("witness %v, %v of %s", witness, ok, p)
		}
		if got, want := keysOf(set), decidingKeys(p, clients); !slices.Equal(got, want) {
			t.Fatalf("%s depends on %s, not %s", p, want, got)
		}
	}
	p, q := predicates[0], predicates[1]
	differ := slices.ContainsFunc(clients, func(c map[string]string) bool { return p.Accepts(c) != q.Accepts(c) })
	if same, err := Equivalent(p, q, Limits{}); err != nil || same == differ {
		t.Fatalf("equivalent: %v, %v\n%s", same, err, about)
	}
	if (sets[0].Predicate().String() == sets[1].Predicate().String()) == differ {
		t.Fatalf("canonical forms %s and %s\n%s", sets[0].Predicate(), sets[1].Predicate(), about)
	}
	checkDependencies(t, sets[0], clients)
	checkChoice(t, predicates, clients, about)
}

// checkDependencies groups clients that agree in every dependency of a set. The set
// must contain all clients of a group or none.
func checkDependencies(t testing.TB, set Clients, clients []map[string]string) {
	t.Helper()
	answers := make(map[string]bool)
	for _, client := range clients {
		var signature []string
		for _, d := range set.Dependencies() {
			switch value, present := client[d.Key]; {
			case present && slices.Contains(d.Values, value):
				signature = append(signature, "="+value)
			case present || !d.Presence:
				signature = append(signature, "other")
			default:
				signature = append(signature, "absent")
			}
		}
		contains, known := answers[fmt.Sprint(signature)]
		if known && contains != set.Contains(client) {
			t.Fatalf("%s depends on more than %v: %v", set.Predicate(), set.Dependencies(), client)
		}
		answers[fmt.Sprint(signature)] = set.Contains(client)
	}
}

func checkChoice(t testing.TB, predicates []Predicate, clients []map[string]string, about string) {
	t.Helper()
	choice, overlap, err := NewChoice(predicates, Limits{})
	if err != nil || (choice == nil) == (overlap == nil) {
		t.Fatalf("choice %v, overlap %v: %v\n%s", choice, overlap, err, about)
	}
	for second := range predicates {
		for first := range second {
			if !slices.ContainsFunc(clients, And(predicates[first], predicates[second]).Accepts) {
				continue
			}
			if overlap == nil || overlap.First != first || overlap.Second != second ||
				!predicates[first].Accepts(overlap.Witness) || !predicates[second].Accepts(overlap.Witness) {
				t.Fatalf("overlap %v, want %d and %d\n%s", overlap, first, second, about)
			}
			return
		}
	}
	if overlap != nil {
		t.Fatalf("overlap %v of disjoint predicates\n%s", overlap, about)
	}
	uncovered := false
	for _, client := range clients {
		index, ok := choice.Choose(client)
		if want := slices.IndexFunc(predicates, func(p Predicate) bool { return p.Accepts(client) }); ok != (want >= 0) || ok && index != want {
			t.Fatalf("%v has predicate %d, %v, want %d\n%s", client, index, ok, want, about)
		}
		uncovered = uncovered || !ok
	}
	witness := choice.Uncovered()
	if (witness != nil) != uncovered || witness != nil && selecting(predicates, witness) != 0 {
		t.Fatalf("uncovered %v; want one: %v\n%s", witness, uncovered, about)
	}
	for i, set := range choice.Sets() {
		alone, err := Canonicalize(predicates[i], Limits{})
		if err != nil || set.Predicate().String() != alone.Predicate().String() {
			t.Fatalf("in a choice %s, alone %s: %v", set.Predicate(), alone.Predicate(), err)
		}
	}
}

// decidingKeys returns the keys for which a change of the value alone can change the
// result.
func decidingKeys(p Predicate, clients []map[string]string) []string {
	var keys []string
	for _, key := range testKeys {
		answers := make(map[string]bool) // by the other keys of the client
		for _, client := range clients {
			rest := maps.Clone(client)
			delete(rest, key)
			accepts, known := answers[fmt.Sprint(rest)]
			if known && accepts != p.Accepts(client) {
				keys = append(keys, key)
				break
			}
			answers[fmt.Sprint(rest)] = p.Accepts(client)
		}
	}
	return keys
}

func TestUncoveredValues(t *testing.T) {
	cases := []struct {
		name       string
		predicates []Predicate
		want       map[string]string
	}{
		{"nothing is covered", nil, map[string]string{}},
		{"all is covered", []Predicate{True()}, nil},
		{"the client without keys", []Predicate{Present("env")}, map[string]string{}},
		{"another value", []Predicate{Equal("env", "prod"), Not(Present("env"))}, map[string]string{"env": "other"}},
		{"another value than other", []Predicate{Equal("env", "other"), Not(Present("env"))}, map[string]string{"env": "other-value"}},
		{"a mentioned value", []Predicate{Not(Equal("env", "prod"))}, map[string]string{"env": "prod"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			choice, overlap, err := NewChoice(c.predicates, Limits{})
			if err != nil || overlap != nil {
				t.Fatal(overlap, err)
			}
			got := choice.Uncovered()
			if !maps.Equal(got, c.want) || (got == nil) != (c.want == nil) {
				t.Errorf("uncovered %v; want %v", got, c.want)
			}
		})
	}
}

// Random predicates overlap; the sets of one partition do not.
func TestChoiceAmongDisjointPredicates(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 33))
	for range instances / 2 {
		items := []Predicate{randomPredicate(r, 3), randomPredicate(r, 3), randomPredicate(r, 3)}
		p, err := Build(items, randomAnonymous(r, len(items)), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		regions, err := regionsOf(p)
		if err != nil {
			t.Fatal(err)
		}
		var predicates []Predicate
		checkRegionChoice(t, p, everyClient(items...))
		for _, region := range regions[r.IntN(2):] {
			predicates = append(predicates, region.Clients.Predicate())
		}
		checkChoice(t, predicates, everyClient(items...), instance(predicates, ""))
	}
}

// checkRegionChoice checks that each client is in one region, and has its content.
func checkRegionChoice(t *testing.T, p *Partition[[3]uint8], clients []map[string]string) {
	t.Helper()
	contents, choice, err := Regions(p, func(s [3]uint8) uint8 { return s[0] })
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range clients {
		content, _ := p.Evaluate(client)
		if i, ok := choice.Choose(client); !ok || contents[i] != content[0] || !choice.Sets()[i].Contains(client) {
			t.Fatalf("%v has region %d, %v, and the content %v", client, i, ok, content)
		}
	}
	if uncovered := choice.Uncovered(); uncovered != nil {
		t.Fatalf("%v has no region", uncovered)
	}
}

func TestZeroChoice(t *testing.T) {
	var choice Choice
	if _, ok := choice.Choose(nil); ok || choice.Uncovered() == nil || len(choice.Sets()) != 0 {
		t.Errorf("zero Choice: %v", choice)
	}
}

func keysOf(s Clients) []string {
	var keys []string
	for _, d := range s.Dependencies() {
		keys = append(keys, d.Key)
	}
	return keys
}

// region is one content of [Regions] with the set of its clients.
type region[S comparable] struct {
	Content S
	Clients Clients
}

func regionsOf[S comparable](p *Partition[S]) ([]region[S], error) {
	contents, choice, err := Regions(p, func(s S) S { return s })
	if err != nil {
		return nil, err
	}
	regions := make([]region[S], len(contents))
	for i, clients := range choice.Sets() {
		regions[i] = region[S]{contents[i], clients}
	}
	return regions, nil
}

func TestZeroSetIsEmpty(t *testing.T) {
	var set Clients
	if _, ok := set.Witness(); ok || set.Contains(nil) || keysOf(set) != nil || set.Predicate().String() != "FALSE" {
		t.Errorf("zero Set: %v", set)
	}
}
