package partition

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

func TestPredicate(t *testing.T) {
	client := map[string]string{"env": "prod", "empty": ""}
	cases := []struct {
		name    string
		p       Predicate
		accepts bool
		text    string
	}{
		{"zero", Predicate{}, true, "TRUE"},
		{"AND of nothing", And(), true, "TRUE"},
		{"OR of nothing", Or(), false, "FALSE"},
		{"equal", Equal("env", "prod"), true, "env=prod"},
		{"another value", Equal("env", "test"), false, "env=test"},
		{"no value is not the empty value", Equal("version", ""), false, `version=""`},
		{"the empty value is a value", Equal("empty", ""), true, `empty=""`},
		{"present", Present("env"), true, "env=*"},
		{"present with the empty value", Present("empty"), true, "empty=*"},
		{"absent", Not(Present("version")), true, "NOT version=*"},
		{"a star is a value", Equal("env", "*"), false, `env="*"`},
		{"nested", Not(And(Present("env"), Or(Equal("a", "b"), Equal("c", "d")))), true, "NOT (env=* AND (a=b OR c=d))"},
		{"AND of one", Not(And(Present("env"))), false, "NOT (AND env=*)"},
		{"tags", Tags{"version": Any, "env": "prod"}.Predicate(), false, "env=prod AND version=*"},
		{"no tags", Tags{}.Predicate(), true, "TRUE"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := c.p.Accepts(client); got != c.accepts {
				t.Errorf("%s accepts %v: %v", c.p, client, got)
			}
			if got := c.p.String(); got != c.text {
				t.Errorf("printed %s, want %s", got, c.text)
			}
		})
	}
}

// The printed form identifies a formula: different formulas print differently.
func TestDifferentPredicatesPrintDifferently(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	printed := make(map[string]Predicate)
	for range instances {
		p := randomPredicate(r, 3)
		if q, ok := printed[p.String()]; ok && !equalFormulas(p, q) {
			t.Fatalf("%#v and %#v print %s", p, q, p)
		}
		printed[p.String()] = p
	}
	for _, p := range []Predicate{Equal("a=b", "c"), Equal("a", "b=c"), Equal("a", "b AND c=d"), Equal(`"a"`, "b")} {
		if q, ok := printed[p.String()]; ok {
			t.Errorf("%#v and %#v print %s", p, q, p)
		}
		printed[p.String()] = p
	}
}

func equalFormulas(p, q Predicate) bool {
	if p.op != q.op || p.key != q.key || p.value != q.value || len(p.members) != len(q.members) {
		return false
	}
	for i := range p.members {
		if !equalFormulas(p.members[i], q.members[i]) {
			return false
		}
	}
	return true
}

func TestPredicateRetainsNoSlice(t *testing.T) {
	members := []Predicate{Equal("a", "b")}
	and, or := And(members...), Or(members...)
	members[0] = False()
	and.Members()[0] = False()
	if and.String() != "AND a=b" && and.String() != "(AND a=b)" || or.Op() != OpOr || !or.Accepts(map[string]string{"a": "b"}) {
		t.Errorf("changed to %s and %s", and, or)
	}
}

func TestSelector(t *testing.T) {
	with := func(value string) map[string]string { return map[string]string{"k": value} }
	cases := []struct {
		name     string
		selector Selector
		v, w     bool // selects k=v, k=w
		absent   bool // selects a client without k
		text     string
		json     string
	}{
		{"every client", nil, true, true, true, "{}", `{}`},
		{"value", Selector{{Key: "k", Kind: Is, Value: "v"}}, true, false, false, "k=v", `{"tags":{"k":"v"}}`},
		{"present", Selector{{Key: "k", Kind: Exists}}, true, true, false, "k=*", `{"tags":{"k":"*"}}`},
		{"another value", Selector{{Key: "k", Kind: Exists, Not: []string{"u", "v"}}}, false, true, false,
			"k=*!=u|v", `{"tags":{"k":"*"},"notTags":{"k":["u","v"]}}`},
		{"another value or none", Selector{{Key: "k", Kind: IsNot, Not: []string{"u", "v"}}}, false, true, true,
			"k!=u|v", `{"notTags":{"k":["u","v"]}}`},
		{"none", Selector{{Key: "k", Kind: Absent}}, false, false, true, "!k", `{"absent":["k"]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			v, w, absent := c.selector.Matches(with("v")), c.selector.Matches(with("w")), c.selector.Matches(nil)
			if v != c.v || w != c.w || absent != c.absent {
				t.Errorf("selects k=v: %v, k=w: %v, no k: %v", v, w, absent)
			}
			p := c.selector.Predicate()
			if p.Accepts(with("v")) != v || p.Accepts(with("w")) != w || p.Accepts(nil) != absent {
				t.Errorf("predicate %s differs", p)
			}
			if c.selector.String() != c.text {
				t.Errorf("printed %s, want %s", c.selector, c.text)
			}
			if text, err := json.Marshal(c.selector); err != nil || string(text) != c.json {
				t.Errorf("JSON %s, %v; want %s", text, err, c.json)
			}
		})
	}
}
