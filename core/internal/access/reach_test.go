package access_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// The verdict about a client agrees with samples of its requests, and exactly the allowed
// samples meet the condition.
func TestReachAgreesWithSamples(t *testing.T) {
	some := 0
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		for inbound, p := range permissiontest.Random(t, r) {
			list := access.ListOf(p)
			var clients []access.KnownClient
			for _, id := range append(slices.Clone(permissiontest.SpiffeIDs), "") {
				clients = append(clients, access.KnownClient{SpiffeID: id, Tags: permissiontest.RandomClient(r).Request().Tags})
			}
			requests := samples(r, 100)
			for i, reach := range access.ReachOf(spaceOf(p), list, clients, access.Limits{}) {
				condition := access.Allowed(list, reach.By, &clients[i])
				for _, sample := range requests {
					own := *sample
					own.SpiffeID, own.Tags = clients[i].SpiffeID, clients[i].Tags
					d := p.Decide(&own).Decision
					if reach.Verdict == access.All && !d.Allow || reach.Verdict == access.None && d.Allow || reach.Verdict == access.Unknown {
						t.Fatalf("seed %d, %s: %+v reaches %s, and %+v is decided by %+v", seed, inbound, clients[i], reach.Verdict, own, d.By)
					}
					if !slices.Contains(reach.By, d) {
						t.Fatalf("seed %d, %s: %+v is decided by %+v, which is not among %v", seed, inbound, own, d.By, reach.By)
					}
					if !asksForHeaders(condition) {
						if got := meets(condition, p.Protocol, &own); got != d.Allow {
							t.Fatalf("seed %d, %s: %+v meets %s: %v, want %v", seed, inbound, own, condition, got, d.Allow)
						}
					}
				}
				if reach.Verdict == access.Some {
					some++
				}
			}
		}
	}
	if some < 50 {
		t.Errorf("only %d clients were allowed some requests", some)
	}
}

// The others are all clients except the clients with the given IDs.
func TestReachOfOthers(t *testing.T) {
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 8))
		for inbound, p := range permissiontest.Random(t, r) {
			ids := permissiontest.SpiffeIDs[:r.IntN(len(permissiontest.SpiffeIDs))]
			reach := access.ReachOfOthers(spaceOf(p), access.ListOf(p), ids, access.Limits{})
			if reach.Verdict == access.Unknown {
				t.Fatal(reach.Err)
			}
			for _, sample := range samples(r, 100) {
				if slices.Contains(ids, sample.SpiffeID) {
					continue
				}
				if d := p.Decide(sample).Decision; !slices.Contains(reach.By, d) {
					t.Fatalf("seed %d, %s: %+v is decided by %+v, which is not among %v", seed, inbound, sample, d.By, reach.By)
				}
			}
		}
	}
}

func TestReachPastALimitIsUnknown(t *testing.T) {
	list := manyEntries()
	reach := access.ReachOf(&access.Space{Protocol: request.HTTP}, list, []access.KnownClient{{SpiffeID: "spiffe://shop.mesh/ns/n1/sa/s8"}}, access.Limits{Work: 10})
	if reach[0].Verdict != access.Unknown || reach[0].Err == nil {
		t.Errorf("got %+v, want an error", reach[0])
	}
}
