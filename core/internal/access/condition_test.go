package access_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// meets reports whether a request meets a condition without headers.
func meets(c access.Condition, protocol request.Protocol, r *request.Request) bool {
	match := func(m access.Match) bool {
		return request.Matches(&m.Match, protocol, r, request.Whole) && r.Tags.Contains(m.Tags)
	}
	return slices.ContainsFunc(c.Any, func(clause access.Clause) bool {
		return match(clause.Match) && !slices.ContainsFunc(clause.Except, match)
	})
}

func asksForHeaders(c access.Condition) bool {
	return slices.ContainsFunc(c.Any, func(clause access.Clause) bool {
		return slices.ContainsFunc(append(clause.Except, clause.Match), func(m access.Match) bool { return len(m.Headers) > 0 })
	})
}

// An entry that denies and one that allows compare equal conditions on a header with different
// parts of its value, so neither exception covers the other one (SPEC 7.2).
func TestExceptionsKeepTheirScope(t *testing.T) {
	b, get := "b", conf.Method("GET")
	header := []conf.HeaderMatch{{Name: "x-team", Value: &b}}
	entry := func(m conf.Match, scope request.ValueScope, allow bool) access.Entry {
		return access.Entry{Match: &m, ValueScope: scope, Allow: allow, By: new(permission.Place)}
	}
	deny := entry(conf.Match{Method: &get, Headers: header}, request.Denial, false)
	wider := entry(conf.Match{Headers: header}, request.Denial, false)
	allow := entry(conf.Match{Headers: header}, request.Whole, true)
	all := entry(conf.Match{}, request.Whole, true)
	for name, test := range map[string]struct {
		earlier []access.Entry
		want    string
	}{
		"an entry that allows covers no denial":           {[]access.Entry{deny, allow}, "every request except GET x-team: b, x-team: b"},
		"a denial covers a narrower one, and what allows": {[]access.Entry{deny, wider, allow}, "every request except x-team: b"},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := &access.List{Entries: test.earlier}, &access.List{Entries: append(test.earlier, all)}
			differences, err := access.Compare(&access.Space{Protocol: request.HTTP}, before, after, access.Limits{})
			if err != nil || len(differences) != 1 {
				t.Fatal(differences, err)
			}
			if got, err := access.ConditionOf(before, after, &differences[0]); err != nil || got.String() != test.want {
				t.Errorf("%v (%v), want %s", got, err, test.want)
			}
		})
	}
}

// A sample meets the condition of a difference if and only if the entries of the difference
// decide it.
func TestConditionIsExactlyTheRegion(t *testing.T) {
	compared := 0
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		before, after := permissiontest.Random(t, r), permissiontest.Random(t, r)
		for _, inbound := range inbounds {
			old, next := before[inbound], after[inbound]
			x, y := access.ListOf(old), access.ListOf(next)
			differences, err := access.Compare(spaceOf(old), x, y, access.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			clients := samples(r, 50)
			for i := range differences {
				d := &differences[i]
				condition, err := access.ConditionOf(x, y, d)
				if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				if asksForHeaders(condition) {
					continue
				}
				for _, c := range append(clients, d.Witness) {
					compared++
					want := old.Decide(c).Decision == d.Before && next.Decide(c).Decision == d.After
					if got := meets(condition, old.Protocol, c); got != want {
						t.Fatalf("seed %d, %s: %+v meets %s: %v, want %v", seed, inbound, c, condition, got, want)
					}
				}
			}
		}
	}
	if compared < 5_000 {
		t.Errorf("only %d requests were compared", compared)
	}
}

func TestConditionInShortForm(t *testing.T) {
	get, sni := conf.Method("GET"), conf.SNI("a.example")
	absent, value := conf.HeaderAbsent, "1"
	c := access.Condition{Any: []access.Clause{{
		Match: access.Match{Match: conf.Match{
			SpiffeID: &conf.SpiffeIDMatch{Type: conf.SpiffeIDPrefix, Value: "spiffe://td/ns/web/"}, SNI: &sni, Method: &get,
			Path:    &conf.PathMatch{Type: conf.PathRegex, Value: "/a|/b"},
			Headers: []conf.HeaderMatch{{Name: "X-Canary", Value: &value}, {Name: "x-team", Type: &absent}},
		}},
		Except: []access.Match{{Match: conf.Match{Path: &conf.PathMatch{Type: conf.PathPrefix, Value: "/"}}}, {}},
	}}}
	const want = "spiffe://td/ns/web/* sni a.example GET ~/a|/b x-canary: 1 without x-team except /*, every request"
	if got := c.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
