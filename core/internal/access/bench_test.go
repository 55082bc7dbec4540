package access_test

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// manyEntries returns a list of 1,000 policies with 8 entries each: identities, path
// prefixes, methods, a few expressions, and some denials.
func manyEntries() *access.List {
	l := &access.List{}
	get, exact := conf.Method("GET"), conf.SpiffeIDExact
	for p := range 1000 {
		for e := range 8 {
			m := &conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: exact, Value: fmt.Sprintf("spiffe://shop.mesh/ns/n%d/sa/s%d", p%50, (p*8+e)%3000)}}
			switch e % 4 {
			case 1:
				m.Method = &get
			case 2:
				m.Path = &conf.PathMatch{Type: conf.PathPrefix, Value: fmt.Sprintf("/v%d/items", p%7)}
			case 3:
				m.Path = &conf.PathMatch{Type: conf.PathRegex, Value: fmt.Sprintf("/v%d/[a-z]+/[0-9]+", p%5)}
			}
			l.Entries = append(l.Entries, access.Entry{Match: m, Allow: e > 0 || p%10 > 0, By: &permission.Place{Rule: p, Index: e}})
		}
	}
	return l
}

func BenchmarkCompareOneEdit(b *testing.B) {
	before := manyEntries()
	after := &access.List{Entries: append(before.Entries[:4000:4000], before.Entries[4008:]...)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := access.Compare(&access.Space{Protocol: request.HTTP}, before, after, access.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNeedless(b *testing.B) {
	list := manyEntries()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := access.Needless(&access.Space{Protocol: request.HTTP}, list, nil, access.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// One cell of a matrix of clients and inbounds.
func BenchmarkRegionsOfOneClient(b *testing.B) {
	list := manyEntries()
	space := &access.Space{Protocol: request.HTTP, Client: &access.KnownClient{SpiffeID: "spiffe://shop.mesh/ns/n1/sa/s8"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := access.Regions(space, list, nil, access.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
