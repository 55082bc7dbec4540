package partition

import (
	"fmt"
	"strings"
	"testing"
)

// named merges contents that override each other completely, and prints them by
// name. A client has the content of the selecting item with the highest
// priority.
type named []string

func (named) Start() string { return "" }

func (a named) Add(s string, item int) string {
	if s == "" {
		return a[item]
	}
	return s
}

// joined merges by concatenation, so a content contains the name of every item, the
// highest priority first.
type joined []string

func (joined) Start() string { return "" }

func (a joined) Add(s string, item int) string { return s + a[item] }

func service(name string) Tags { return Tags{"kuma.io/service": name} }

func printRules[S comparable](rules Rules[S], err error) string {
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, rule := range rules {
		fmt.Fprintf(&b, "%s: %v\n", rule.Selector, rule.Content)
	}
	return b.String()
}

func printDisjoint[S comparable](items []Tags, algebra Algebra[S]) string {
	p, err := Build(predicatesOf(items), algebra, Limits{})
	if err != nil {
		return err.Error()
	}
	return printRules(p.Disjoint())
}

func TestRuleViewsOfTheSeeds(t *testing.T) {
	cases := []struct {
		name              string
		items             []Tags
		algebra           Algebra[string]
		ordered, disjoint string
	}{
		{
			// 000 "Rule-based view", as printed: both, us-east, dev.
			name:    "zone and team",
			items:   []Tags{{"kuma.io/zone": "us-east"}, {"team": "dev"}},
			algebra: joined{"Z", "T"},
			ordered: `
				kuma.io/zone=us-east,team=dev: TZ
				team=dev: T
				kuma.io/zone=us-east: Z`,
			disjoint: `
				kuma.io/zone=us-east,team=dev: TZ
				kuma.io/zone!=us-east,team=dev: T
				kuma.io/zone=us-east,team!=dev: Z`,
		},
		{
			// 000 "MeshTrafficPermission". The printed view also has rules for
			// infra-monitoring and infra-logger with the content of Mesh; here
			// they are joined with it (SPEC 5.4).
			name: "traffic permission",
			items: []Tags{
				{}, service("infra-monitoring"), service("infra-logger"),
				{}, {"kuma.io/service": "web", "version": "v1"},
			},
			algebra: named{"DENY", "ALLOW", "ALLOW", "ALLOW", "DENY"},
			ordered: `
				kuma.io/service=web,version=v1: DENY
				{}: ALLOW`,
			disjoint: `
				kuma.io/service=web,version=v1: DENY
				kuma.io/service=web,version!=v1: ALLOW
				kuma.io/service!=web: ALLOW`,
		},
		{
			// SPEC 5.7: not "not a OR not b", which allows every client.
			name:    "Mesh Allow, a Deny, b Deny",
			items:   []Tags{{}, service("a"), service("b")},
			algebra: named{"Allow", "Deny", "Deny"},
			ordered: `
				kuma.io/service=b: Deny
				kuma.io/service=a: Deny
				{}: Allow`,
			disjoint: `
				kuma.io/service=b: Deny
				kuma.io/service=a: Deny
				kuma.io/service!=a|b: Allow`,
		},
		{
			// SPEC 5.2: the intersection of k=* and k=v is k=v.
			name:    "presence and value",
			items:   []Tags{{"team": Any}, {"team": "dev"}},
			algebra: joined{"P", "D"},
			ordered: `
				team=dev: DP
				team=*: P`,
			disjoint: `
				team=dev: DP
				team=*!=dev: P`,
		},
		{
			name:    "presence with a fallback",
			items:   []Tags{{}, {"team": Any}},
			algebra: named{"M", "P"},
			ordered: `
				team=*: P
				{}: M`,
			disjoint: `
				team=*: P
				!team: M`,
		},
		{
			name:    "triple overlap that 000's pairwise loop misses",
			items:   []Tags{{"a": "1"}, {"b": "1"}, {"c": "1"}},
			algebra: joined{"A", "B", "C"},
			ordered: `
				a=1,b=1,c=1: CBA
				b=1,c=1: CB
				a=1,c=1: CA
				c=1: C
				a=1,b=1: BA
				b=1: B
				a=1: A`,
			disjoint: `
				a=1,b=1,c=1: CBA
				a!=1,b=1,c=1: CB
				a=1,b!=1,c=1: CA
				a!=1,b!=1,c=1: C
				a=1,b=1,c!=1: BA
				a!=1,b=1,c!=1: B
				a=1,b!=1,c!=1: A`,
		},
		{
			name:     "no items",
			algebra:  named{},
			ordered:  ``,
			disjoint: ``,
		},
		{
			name:     "an item that sets nothing still makes a rule",
			items:    []Tags{{"a": "1"}},
			algebra:  named{""},
			ordered:  `a=1: `,
			disjoint: `a=1: `,
		},
		{
			name:    "equal contents of two values cannot share a selector",
			items:   []Tags{{"a": "1"}, {"a": "2"}},
			algebra: named{"X", "X"},
			ordered: `
				a=2: X
				a=1: X`,
			disjoint: `
				a=2: X
				a=1: X`,
		},
		{
			name:    "a rule that the last one repeats, after one that it does not overlap",
			items:   []Tags{{}, {"a": "2"}, {"a": "1"}},
			algebra: named{"X", "Y", "X"},
			ordered: `
				a=2: Y
				{}: X`,
			disjoint: `
				a=2: Y
				a!=2: X`,
		},
		{
			name:    "the same among rules of another key",
			items:   []Tags{{}, {"b": "2"}, {"b": "1"}, {"a": "3"}, {"a": "2"}, {"a": "1"}},
			algebra: named{"X", "Y", "X", "3", "2", "1"},
			ordered: `
				a=1: 1
				a=2: 2
				a=3: 3
				b=2: Y
				{}: X`,
			disjoint: `
				a=1: 1
				a=2: 2
				a=3: 3
				a!=1|2|3,b=2: Y
				a!=1|2|3,b!=2: X`,
		},
		{
			name:    "a rule that the last one repeats, but not for all its clients",
			items:   []Tags{{}, {"b": "1"}, {"a": "1"}},
			algebra: named{"X", "Y", "X"},
			ordered: `
				a=1: X
				b=1: Y
				{}: X`,
			disjoint: `
				a=1: X
				a!=1,b=1: Y
				a!=1,b!=1: X`,
		},
		{
			name:    "equal contents on both sides of a key are joined",
			items:   []Tags{{}, {"b": "1"}, {"a": "1", "b": "1"}},
			algebra: named{"M", "B", "A"},
			ordered: `
				a=1,b=1: A
				b=1: B
				{}: M`,
			disjoint: `
				a=1,b=1: A
				a!=1,b=1: B
				b!=1: M`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got, want := printRules(Ordered(c.items, c.algebra, Limits{})), lines(c.ordered); got != want {
				t.Errorf("ordered:\n%swant:\n%s", got, want)
			}
			if got, want := printDisjoint(c.items, c.algebra), lines(c.disjoint); got != want {
				t.Errorf("disjoint:\n%swant:\n%s", got, want)
			}
			checkOrdered(t, c.items, c.algebra)
			checkPartition(t, predicatesOf(c.items), c.algebra)
		})
	}
}

// lines removes the indentation of a table's text.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimLeft(text, "\n")) {
		b.WriteString(strings.Trim(line, "\t\n") + "\n")
	}
	return b.String()
}

// 000 "How to build rule-based view": X and Y intersect in one selector or do not
// intersect. The rule of the intersection is first and has both contents.
func TestTheNineIntersectionRules(t *testing.T) {
	subset := func(pairs ...string) Tags {
		tags := Tags{}
		for i := 0; i < len(pairs); i += 2 {
			tags[pairs[i]] = pairs[i+1]
		}
		return tags
	}
	const svc = "kuma.io/service"
	cases := []struct {
		name string
		x, y Tags
		want string // "" for the empty set
	}{
		{"1: X with X", subset("t", "1"), subset("t", "1"), "t=1"},
		{"2: Mesh with X", Tags{}, subset("t", "1"), "t=1"},
		{"3: MeshSubset with MeshSubset", subset("t", "1"), subset("u", "2"), "t=1,u=2"},
		{"4: MeshSubset with MeshService", subset("t", "1"), service("a"), svc + "=a,t=1"},
		{"5: MeshSubset with MeshServiceSubset", subset("t", "1"), subset(svc, "a", "u", "2"), svc + "=a,t=1,u=2"},
		{"6: MeshService with another", service("a"), service("b"), ""},
		{"7: MeshService with its subset", service("a"), subset(svc, "a", "u", "2"), svc + "=a,u=2"},
		{"8: MeshService with another's subset", service("a"), subset(svc, "b", "u", "2"), ""},
		{"9: subsets of one service", subset(svc, "a", "t", "1"), subset(svc, "a", "u", "2"), svc + "=a,t=1,u=2"},
		{"subsets that give one key two values", subset("t", "1"), subset("t", "2"), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rules, err := Ordered([]Tags{c.x, c.y}, joined{"x", "y"}, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, rule := range rules {
				if rule.Content == "yx" {
					got += rule.Selector.String()
				}
			}
			if got != c.want {
				t.Errorf("X and Y meet in %q, want %q; rules %v", got, c.want, rules)
			}
			checkPartition(t, predicatesOf([]Tags{c.x, c.y}), joined{"x", "y"})
		})
	}
}

// 004 "Example": two routes, each for one value of one parameter; three values
// of each make nine combinations but four contents.
func TestFourVariantsOf004(t *testing.T) {
	fragments := []Predicate{
		Equal("env", "prod"),
		Equal("version", "v1"),
		// other values that clients send; no result depends on them
		And(Equal("env", "canary"), False()),
		And(Equal("version", "v2"), False()),
	}
	p, err := Build(fragments, joined{"route-prod ", "route-v1 ", "", ""}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	regions, err := regionsOf(p)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, region := range regions {
		got += fmt.Sprintf("%s: %s\n", region.Clients.Predicate(), region.Content)
		if keys := fmt.Sprint(keysOf(region.Clients)); keys != "[env version]" {
			t.Errorf("%s depends on %s", region.Clients.Predicate(), keys)
		}
	}
	want := lines(`
		NOT env=prod AND NOT version=v1: 
		NOT env=prod AND version=v1: route-v1 
		env=prod AND NOT version=v1: route-prod 
		env=prod AND version=v1: route-v1 route-prod `)
	if got != want {
		t.Errorf("variants:\n%swant:\n%s", got, want)
	}
}

// The canonical form does not depend on the order in which values are mentioned.
func TestRegionsNameValuesInOrder(t *testing.T) {
	items := []Predicate{Equal("env", "canary"), Equal("env", "test"), Equal("env", "prod")}
	p, err := Build(items, named{"X", "Y", "X"}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	regions, err := regionsOf(p)
	if err != nil || len(regions) != 3 {
		t.Fatalf("%v, %v", regions, err)
	}
	for _, region := range regions {
		if region.Content == "X" && region.Clients.Predicate().String() != "env=canary OR env=prod" {
			t.Errorf("X for %s", region.Clients.Predicate())
		}
	}
}

// Twenty keys that completely override each other need few rules (SPEC 5.5).
func TestTwentyDistinctKeysThatOverrideEachOtherWhole(t *testing.T) {
	items := append([]Tags{{}}, distinctKeys(20)...)
	ordered, err := Ordered(items, wholeOverrides(len(items)), Limits{})
	if err != nil || len(ordered) != 21 {
		t.Errorf("%d ordered rules, %v; want one for each item", len(ordered), err)
	}
	p, err := Build(predicatesOf(items), wholeOverrides(len(items)), Limits{})
	if n, err := disjointRules(p, err); err != nil || n != 21 {
		t.Errorf("%d disjoint rules, %v; want one for each item", n, err)
	}
	nodes := 0
	visit(p.root, make(map[*node]bool), func(*node) { nodes++ })
	if nodes != 20 {
		t.Errorf("diagram of %d nodes, want one for each key", nodes)
	}
}
