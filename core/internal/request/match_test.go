package request

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf"
)

func TestMatches(t *testing.T) {
	spiffe := func(how conf.SpiffeIDMatchType, value string) *conf.Match {
		return &conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: how, Value: value}}
	}
	get := conf.Method("GET")
	sni := conf.SNI("web.example")
	for name, c := range map[string]struct {
		match    *conf.Match
		protocol Protocol
		request  Request
		want     bool
	}{
		"nothing asked":            {&conf.Match{}, TCP, Request{}, true},
		"exact":                    {spiffe(conf.SpiffeIDExact, "spiffe://td/a"), TCP, Request{SpiffeID: "spiffe://td/a"}, true},
		"exact, longer":            {spiffe(conf.SpiffeIDExact, "spiffe://td/a"), TCP, Request{SpiffeID: "spiffe://td/a/b"}, false},
		"prefix by segment":        {spiffe(conf.SpiffeIDPrefix, "spiffe://td/a"), TCP, Request{SpiffeID: "spiffe://td/a/b"}, true},
		"prefix within a segment":  {spiffe(conf.SpiffeIDPrefix, "spiffe://td/a"), TCP, Request{SpiffeID: "spiffe://td/ab"}, false},
		"trust domain":             {spiffe(conf.SpiffeIDPrefix, "spiffe://td/"), TCP, Request{SpiffeID: "spiffe://td/a"}, true},
		"longer trust domain":      {spiffe(conf.SpiffeIDPrefix, "spiffe://td"), TCP, Request{SpiffeID: "spiffe://td2/a"}, false},
		"no certificate":           {spiffe(conf.SpiffeIDPrefix, "spiffe://td"), TCP, Request{}, false},
		"method":                   {&conf.Match{Method: &get}, HTTP, Request{Method: "GET"}, true},
		"method on a TCP inbound":  {&conf.Match{Method: &get}, TCP, Request{Method: "GET"}, false},
		"server name":              {&conf.Match{SNI: &sni}, TCP, Request{SNI: "web.example"}, true},
		"server name of all asked": {&conf.Match{SNI: &sni, SpiffeID: spiffe(conf.SpiffeIDExact, "spiffe://td/a").SpiffeID}, TCP, Request{SNI: "web.example"}, false},
	} {
		if got := Matches(c.match, c.protocol, &c.request, Whole); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// A prefix of text may end within a segment or within the trust domain.
func TestByPrefix(t *testing.T) {
	var names ByPrefix[string]
	for _, m := range []conf.SpiffeIDMatch{
		{Type: conf.SpiffeIDPrefix, Value: "spiffe://td"}, {Type: conf.SpiffeIDPrefix, Value: "spiffe://td/a/"}, {Type: conf.SpiffeIDPrefix, Value: "spiffe://td/a/b/c/d"},
		{Type: conf.SpiffeIDTextPrefix, Value: "spiffe://t"}, {Type: conf.SpiffeIDTextPrefix, Value: "spiffe://td/a/b"}, {Type: conf.SpiffeIDTextPrefix, Value: "spiffe://td/x"},
	} {
		names.Change(&m, func(string, bool) string { return m.Type.String() + " " + m.Value })
		names.Change(&m, func(name string, known bool) string {
			if !known {
				t.Errorf("%+v is not known", m)
			}
			return name + "!"
		})
	}
	for id, want := range map[string][]string{
		"spiffe://td/a/bc": {"Prefix spiffe://td!", "Prefix spiffe://td/a/!", "Prefix spiffe://t!", "Prefix spiffe://td/a/b!"},
		"spiffe://td2/a":   {"Prefix spiffe://t!"},
		"spiffe://other":   nil,
		"":                 nil,
	} {
		if diff := cmp.Diff(want, slices.Collect(names.All(id))); diff != "" {
			t.Errorf("%s:\n%s", id, diff)
		}
	}
}

// A condition covers another exactly if each ID of a set that has all prefixes, and what is
// beside them, says so; and two conditions overlap only if one covers the other.
func TestSpiffeIDCovers(t *testing.T) {
	ids := []string{"spiffe://t", "spiffe://td", "spiffe://td/a", "spiffe://td/a/b", "spiffe://td/ab", "spiffe://td/a/bc", "spiffe://td2", "spiffe://td2/a", "spiffe://td/a/b/c", "spiffe://td/abc/d", "spiffe://td/ab/x", "spiffe://t/x", "spiffe://td/x"}
	var all []conf.SpiffeIDMatch
	for _, value := range ids[:5] {
		for _, how := range []conf.SpiffeIDMatchType{conf.SpiffeIDExact, conf.SpiffeIDPrefix, conf.SpiffeIDTextPrefix} {
			all = append(all, conf.SpiffeIDMatch{Type: how, Value: value})
		}
	}
	for _, a := range all {
		for _, b := range all {
			covers, overlaps := true, false
			for _, id := range ids {
				covers = covers && (!SpiffeIDMatches(&b, id) || SpiffeIDMatches(&a, id))
				overlaps = overlaps || SpiffeIDMatches(&b, id) && SpiffeIDMatches(&a, id)
			}
			if got := SpiffeIDCovers(&a, &b); got != covers {
				t.Errorf("%v covers %v: %v", a, b, got)
			}
			if laminar := SpiffeIDCovers(&a, &b) || SpiffeIDCovers(&b, &a); laminar != overlaps {
				t.Errorf("%v and %v overlap: %v", a, b, laminar)
			}
		}
	}
}
