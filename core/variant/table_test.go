package variant_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/variant"
)

func newSet(t testing.TB, texts ...string) *variant.Set {
	t.Helper()
	set, err := variant.NewSet(parse(t, texts...))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func format(variants []variant.Variant[string]) string {
	var forms []string
	for _, v := range variants {
		forms = append(forms, v.Constraint.String()+" "+v.Content)
	}
	return strings.Join(forms, "; ")
}

// The transition of 004: the variants of a name are replaced in one step, and the change
// contains everything that a response needs (SPEC 9.5).
func TestReplace(t *testing.T) {
	table := variant.NewTable[string]()
	for _, step := range []struct {
		name                string
		set                 *variant.Set
		contents            []string
		came, went, changed string
		names               int
	}{
		{"first", newSet(t, prod, test), []string{"P", "T"}, "env=prod P; env=test T", "", "", 1},
		{"the same", newSet(t, prod, not(not(test))), []string{"P", "T"}, "", "", "", 1},
		{"another content", newSet(t, test, prod), []string{"T2", "P"}, "", "", "env=test T2", 1},
		{
			"a new key", newSet(t, and(prod, version1), and(prod, version2), and(test, or(versioned, not(versioned)))), []string{"P1", "P2", "T2"},
			"env=prod & version=v1 P1; env=prod & version=v2 P2; env=test & (version | !version) T2", "env=test T2; env=prod P", "", 1,
		},
		{"one that accepts nothing", newSet(t, and(prod, version1), and(prod, test, versioned)), []string{"P1", "none"}, "", "env=prod & version=v2 P2; env=test & (version | !version) T2", "", 1},
		{"gone", nil, nil, "", "env=prod & version=v1 P1", "", 0},
		{"again gone", nil, nil, "", "", "", 0},
	} {
		e := table.Edit()
		change := e.Replace("routes", step.set, step.contents)
		before := table
		table = e.Commit()
		if came, went, changed := format(change.Came), format(change.Went), format(change.Changed); came != step.came || went != step.went || changed != step.changed {
			t.Errorf("%s: came %q, went %q, changed %q; want %q, %q, %q", step.name, came, went, changed, step.came, step.went, step.changed)
		}
		if empty := step.came+step.went+step.changed == ""; change.Name != "routes" || change.Empty() != empty {
			t.Errorf("%s: change of %q is empty: %v", step.name, change.Name, change.Empty())
		}
		if table.Len() != step.names || table.Set("routes") != step.set {
			t.Errorf("%s: %d names, set %v", step.name, table.Len(), table.Set("routes"))
		}
		if before == table {
			t.Errorf("%s: the table was changed in place", step.name)
		}
	}
}

// In random tables, the switches that postings find are those of all names, even after
// names have been replaced and removed.
func TestSwitches(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 5))
	value := func(key string) string { return fmt.Sprint(key, r.IntN(4)) }
	keys := []string{"a", "b", "c"}
	parameters := func() variant.Parameters {
		p := variant.Parameters{"unused": fmt.Sprint(r.IntN(9))}
		for _, key := range keys {
			if r.IntN(3) > 0 {
				p[key] = value(key)
			}
		}
		return p
	}
	table := variant.NewTable[string]()
	names := map[string]*variant.Set{}
	touched := 0
	for round := range 300 {
		e := table.Edit()
		name := fmt.Sprint("name-", r.IntN(12))
		if r.IntN(5) == 0 {
			e.Replace(name, nil, nil)
			delete(names, name)
		} else {
			key, other := keys[r.IntN(3)], keys[r.IntN(3)]
			first := fmt.Sprintf(`{constraint: {key: %s, value: %s}}`, key, value(key))
			second := fmt.Sprintf(`{constraint: {key: %s, exists: {}}}`, other)
			set := newSet(t, and(first, second), and(first, not(second)), and(not(first), second))
			e.Replace(name, set, []string{"0", "1", "2"})
			names[name] = set
		}
		table = e.Commit()
		before, after := parameters(), parameters()
		if r.IntN(3) == 0 {
			after = maps.Clone(before)
			delete(after, keys[r.IntN(3)])
		}
		var want []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			from, had := names[name].Choose(before)
			to, has := names[name].Choose(after)
			if had != has || from != to {
				want = append(want, fmt.Sprint(name, " ", had, from, has, to))
			}
			if content, variant, ok := table.Choose(name, after); ok != has || variant != to || ok && content != fmt.Sprint(to) {
				t.Fatalf("round %d: %s has variant %d %q, %v for %v, want %d, %v", round, name, variant, content, ok, after, to, has)
			}
		}
		var got []string
		for _, s := range table.Switches(before, after) {
			from, had := names[s.Name].Choose(before)
			to, has := names[s.Name].Choose(after)
			got = append(got, fmt.Sprint(s.Name, " ", s.Before != nil, from, s.After != nil, to))
			if had && s.Before.Content != fmt.Sprint(from) || has && s.After.Content != fmt.Sprint(to) {
				t.Fatalf("round %d: %s switches from %v to %v", round, s.Name, s.Before, s.After)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %v to %v switches %v, want %v", round, before, after, got, want)
		}
		touched += len(got)
	}
	if touched < 300 {
		t.Errorf("%d switches in 300 rounds", touched)
	}
}

func TestReplacePanicsWithoutContents(t *testing.T) {
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, `"routes" has 2 variants and 1 contents`) {
			t.Errorf("recovered %s", text)
		}
	}()
	variant.NewTable[int]().Edit().Replace("routes", newSet(t, prod, test), []int{1})
}
