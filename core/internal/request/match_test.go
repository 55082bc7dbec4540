package request

import (
	"testing"

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
