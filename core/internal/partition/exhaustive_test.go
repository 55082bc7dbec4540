package partition

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
)

const instances = 2000 // of each test; each is tried with all clients

func TestEveryFormAgreesWithTheMergeForEveryClient(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range instances {
		items := make([]Tags, r.IntN(7))
		for i := range items {
			items[i] = randomTags(r, 3)
		}
		predicates := predicatesOf(items)
		fields, contents := randomOverriding(r, len(items)), randomAnonymous(r, len(items))
		checkOrdered(t, items, fields)
		checkOrdered(t, items, contents)
		checkOrdered(t, items, collecting{})
		checkPartition(t, predicates, fields)
		checkPartition(t, predicates, contents)
		checkPartition(t, predicates, collecting{})
	}
}

// Among many items of one key, the search visits only the compatible items.
func TestManyValuesOfOneKey(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range instances / 20 {
		items := make([]Tags, 20+r.IntN(20))
		for i := range items {
			switch r.IntN(6) {
			case 0:
				items[i] = Tags{"svc": Any}
			case 1:
				items[i] = randomTags(r, 1)
			default:
				items[i] = Tags{"svc": fmt.Sprint("s", r.IntN(12))}
			}
			if r.IntN(4) == 0 {
				items[i]["a"] = "x"
			}
		}
		fields := randomOverriding(r, len(items))
		checkOrdered(t, items, fields)
		checkPartition(t, predicatesOf(items), fields)
		checkOrdered(t, items, randomAnonymous(r, len(items)))
		names := make(joined, len(items)) // an item that is added twice is visible in a content
		for i := range names {
			names[i] = fmt.Sprint(i, " ")
		}
		checkOrdered(t, items, names)
	}
}

func TestPartitionOfArbitraryPredicates(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range instances {
		items := make([]Predicate, r.IntN(5))
		for i := range items {
			items[i] = randomPredicate(r, 3)
		}
		checkPartition(t, items, randomOverriding(r, len(items)))
		checkPartition(t, items, randomAnonymous(r, len(items)))
	}
}

// SPEC 5.4: if every item requires at most one tag, the disjoint form has
// at most one rule for each set of items that select some client.
func TestDisjointFormIsMinimalForItemsOfOneTag(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 4))
	for range instances {
		items := make([]Predicate, 1+r.IntN(8))
		for i := range items {
			items[i] = randomTags(r, 1).Predicate()
		}
		bound := distinctSets(items, everyClient(items...))
		check := func(n int, err error) {
			if err != nil || n > bound {
				t.Fatalf("%d rules, %v, for %d sets of items\n%s", n, err, bound, instance(items, ""))
			}
		}
		check(disjointRules(Build(items, randomOverriding(r, len(items)), Limits{})))
		check(disjointRules(Build(items, randomAnonymous(r, len(items)), Limits{})))
		check(disjointRules(Build(items, collecting{}, Limits{})))
	}
}

func disjointRules[S comparable](p *Partition[S], err error) (int, error) {
	if err != nil {
		return 0, err
	}
	rules, err := p.Disjoint()
	return len(rules), err
}

// Permuting the members of AND and OR, or running again, gives the same bytes.
func TestResultsDoNotDependOnTheOrderOfMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range instances / 4 {
		items := make([]Predicate, 1+r.IntN(5))
		shuffled := make([]Predicate, len(items))
		for i := range items {
			items[i] = randomPredicate(r, 3)
			shuffled[i] = shuffle(r, items[i])
		}
		contents := randomAnonymous(r, len(items))
		if want, got := bytesOf(t, items, contents), bytesOf(t, shuffled, contents); got != want {
			t.Fatalf("permuted members change the result from\n%s\nto\n%s\n%s", want, got, instance(items, contents))
		}
	}
}

func shuffle(r *rand.Rand, p Predicate) Predicate {
	members := p.Members()
	for i := range members {
		members[i] = shuffle(r, members[i])
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	p.members = members
	return p
}

// bytesOf prints every result of a partition.
func bytesOf[S comparable](t *testing.T, items []Predicate, algebra Algebra[S]) string {
	t.Helper()
	p, err := Build(items, algebra, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	disjoint, err := p.Disjoint()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(disjoint)
	if err != nil {
		t.Fatal(err)
	}
	regions, err := regionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, region := range regions {
		witness, _ := region.Clients.Witness()
		again, err := Canonicalize(region.Clients.Predicate(), Limits{})
		if err != nil || again.Predicate().String() != region.Clients.Predicate().String() {
			t.Fatalf("%s is not its own canonical form, %s is: %v", region.Clients.Predicate(), again.Predicate(), err)
		}
		text = fmt.Appendf(text, "\n%v %s %s %v", region.Content, region.Clients.Predicate(), keysOf(region.Clients), witness)
	}
	return string(text)
}
