package conf_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
)

// Rules are merged if their matches are equal as sets (SPEC 7.1): the order,
// repetitions and the letter case of server and header names make no difference, but
// anything else does.
func TestMatchesKey(t *testing.T) {
	header := func(name, value string) conf.HeaderMatch {
		return conf.HeaderMatch{Name: conf.HeaderName(name), Value: &value}
	}
	prefix, exact, present := conf.HeaderPrefix, conf.HeaderExact, conf.HeaderPresent
	get, put, sni, upper, other := conf.Method("GET"), conf.Method("PUT"), conf.SNI("a"), conf.SNI("A"), conf.SNI("b")
	x, y := header("x", "1"), header("y", "1")
	xPrefix := x
	xPrefix.Type = &prefix
	xExact := header("X", "1")
	xExact.Type = &exact
	path := func(kind conf.PathMatchType, value string) conf.Match {
		return conf.Match{Path: &conf.PathMatch{Type: kind, Value: value}}
	}
	spiffe := func(kind conf.SpiffeIDMatchType, value string) conf.Match {
		return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: kind, Value: value}}
	}
	headers := func(list ...conf.HeaderMatch) conf.Match { return conf.Match{Headers: list} }
	groups := [][][]conf.Match{ // each contains several forms of one set
		{{{}}, {{}, {}}},
		{{{Method: &get}}, {{Method: &get}, {Method: &get}}},
		{{{Method: &put}}},
		{{{Method: &get}, {Method: &put}}, {{Method: &put}, {Method: &get}}},
		{{{SNI: &sni}}, {{SNI: &upper}}},
		{{{SNI: &other}}},
		{{{SNI: &sni, Method: &get}}},
		{{{SNI: &sni}, {Method: &get}}},
		{{path(conf.PathExact, "/a")}},
		{{path(conf.PathPrefix, "/a")}},
		{{path(conf.PathExact, "/b")}},
		{{path(conf.PathExact, "/a"), {}}},
		{{spiffe(conf.SpiffeIDExact, "spiffe://td/a")}},
		{{spiffe(conf.SpiffeIDPrefix, "spiffe://td/a")}},
		{{spiffe(conf.SpiffeIDExact, "spiffe://td/b")}},
		{{headers(x)}, {headers(xExact)}, {headers(x, x)}},
		{{headers(xPrefix)}},
		{{headers(header("x", "2"))}},
		{{headers(y)}},
		{{headers(x, y)}, {headers(y, x)}},
		{{headers(x), headers(y)}, {headers(y), headers(x), headers(xExact)}},
		{{headers(conf.HeaderMatch{Name: "x", Type: &present})}},
	}
	places := map[string]string{}
	for i, spellings := range groups {
		for j, matches := range spellings {
			place := fmt.Sprintf("group %d", i)
			key := conf.MatchesKey(matches)
			if known, met := places[key]; met && known != place || !met && j > 0 {
				t.Errorf("spelling %d of %s has the key of %q", j, place, known)
			}
			places[key] = place
		}
	}
}
