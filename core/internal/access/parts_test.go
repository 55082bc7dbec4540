package access_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
)

// A request with unknown parts has the decisions of all requests with any values for
// these parts.
func TestDeciderAgreesWithSamples(t *testing.T) {
	certain, several := 0, 0
	for seed := range uint64(60) {
		c, s := decideWithSamples(t, seed, 60)
		certain, several = certain+c, several+s
	}
	if certain < 500 || several < 500 {
		t.Errorf("%d requests with one decision, %d with several", certain, several)
	}
}

func FuzzDeciderAgreesWithSamples(f *testing.F) {
	f.Add(uint64(61))
	f.Fuzz(func(t *testing.T, seed uint64) { decideWithSamples(t, seed, 20) })
}

// decideWithSamples removes parts of random requests, and returns how many requests have
// one decision, and how many have several.
func decideWithSamples(t *testing.T, seed uint64, count int) (certain, several int) {
	r := rand.New(rand.NewPCG(seed, 9))
	for inbound, p := range permissiontest.Random(t, r) {
		list := access.ListOf(p)
		decider := access.NewDecider(spaceOf(p), list)
		requests := samples(r, count)
		for i, sample := range requests {
			unknown := randomParts(r, list.Parts())
			got, err := decider.Decide(sample, unknown, access.Limits{})
			if err != nil {
				t.Fatalf("seed %d, %s: %+v without %+v: %v", seed, inbound, sample, unknown, err)
			}
			full := func(other *request.Request) permission.Decision {
				filled := filled(sample, other, unknown)
				return p.Decide(&filled).Decision
			}
			for _, other := range requests {
				if want := full(other); !slices.Contains(got, want) {
					t.Fatalf("seed %d, %s: %+v without %+v can be decided by %+v, which is not among %+v", seed, inbound, sample, unknown, want.By, got)
				}
			}
			if i%4 == 0 { // every part is known
				got, err := decider.Decide(sample, access.Parts{}, access.Limits{})
				if want := p.Decide(sample).Decision; err != nil || !slices.Equal(got, []permission.Decision{want}) {
					t.Fatalf("seed %d, %s: %+v is decided by %+v, not by %+v, %v", seed, inbound, sample, want.By, got, err)
				}
			}
			if len(got) == 1 {
				certain++
			} else {
				several++
			}
		}
	}
	return certain, several
}

// Each possible decision is the decision of some request.
func TestDeciderAnswersWhatCanBe(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 10))
		for inbound, p := range permissiontest.Random(t, r) {
			list := access.ListOf(p)
			decider := access.NewDecider(spaceOf(p), list)
			all, err := access.Regions(spaceOf(p), list, nil, access.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := decider.Decide(&request.Request{}, list.Parts(), access.Limits{})
			if err != nil || len(got) != len(all) {
				t.Fatalf("seed %d, %s: %d decisions, %v; there are %d regions", seed, inbound, len(got), err, len(all))
			}
			for i := range all {
				if got[i] != all[i].Decision || p.Decide(all[i].Witness).Decision != got[i] {
					t.Fatalf("seed %d, %s: decision %d is by %+v, want %+v", seed, inbound, i, got[i].By, all[i].By)
				}
			}
		}
	}
}

// randomParts returns some of the parts.
func randomParts(r *rand.Rand, all access.Parts) access.Parts {
	some := func(asked bool) bool { return asked && r.IntN(3) == 0 }
	p := access.Parts{SpiffeID: some(all.SpiffeID), Tags: some(all.Tags), SNI: some(all.SNI), Method: some(all.Method), Path: some(all.Path)}
	for _, name := range all.Headers {
		if some(true) {
			p.Headers = append(p.Headers, name)
		}
	}
	return p
}

// filled returns a request with the given parts of another request.
func filled(sample, other *request.Request, parts access.Parts) request.Request {
	out := *sample
	if parts.SpiffeID {
		out.SpiffeID = other.SpiffeID
	}
	if parts.Tags {
		out.Tags = other.Tags
	}
	if parts.SNI {
		out.SNI = other.SNI
	}
	if parts.Method {
		out.Method = other.Method
	}
	if parts.Path {
		out.Path = other.Path
	}
	of := func(h request.Header) bool { return slices.Contains(parts.Headers, h.Name) }
	lines := slices.DeleteFunc(slices.Clone(sample.Headers), of)
	for _, h := range other.Headers {
		if of(h) {
			lines = append(lines, h)
		}
	}
	out.Headers = request.NewHeaders(lines...)
	return out
}
