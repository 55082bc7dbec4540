package access_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/fuzz"
)

var inbounds = []string{"http", "tcp"}

// samples returns random requests that a list of permissions can decide.
func samples(r *rand.Rand, count int) []*request.Request {
	var out []*request.Request
	for len(out) < count {
		sample := permissiontest.RandomClient(r).Request()
		seen := request.NewSeen(sample)
		if sample.Method == "" || seen.PathRefused || seen.NormalPath == "" || seen.NormalPath[0] != '/' || endsInBlank(sample.Headers) {
			continue
		}
		out = append(out, sample)
	}
	return out
}

// endsInBlank reports whether a header value begins or ends with a space, because one of
// several cookie lines is empty. Questions do not cover such requests (SPEC 13.1).
func endsInBlank(headers request.Headers) bool {
	return slices.ContainsFunc(headers, func(h request.Header) bool { return h.Value != strings.Trim(h.Value, " ") })
}

func spaceOf(p *permission.Permissions) *access.Space { return &access.Space{Protocol: p.Protocol} }

// The comparison finds every difference that samples show, and its witnesses show every
// difference that it finds: for 60 pairs of meshes, and SOAK times as many.
func TestSoakCompareAgreesWithSamples(t *testing.T) {
	var found, next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for seed := next.Add(1); seed <= 60*int64(fuzz.Soak(t)) && !t.Failed(); seed = next.Add(1) {
				found.Add(int64(compareWithSamples(t, uint64(seed), 300)))
			}
		})
	}
	workers.Wait()
	if found := found.Load(); found < 200 {
		t.Errorf("only %d differences were found", found)
	}
}

func FuzzCompareAgreesWithSamples(f *testing.F) {
	f.Add(uint64(70))
	f.Fuzz(func(t *testing.T, seed uint64) { compareWithSamples(t, seed, 50) })
}

// compareWithSamples compares two random meshes, and returns the number of differences.
func compareWithSamples(t *testing.T, seed uint64, count int) (found int) {
	r := rand.New(rand.NewPCG(seed, 1))
	before, after := permissiontest.Random(t, r), permissiontest.Random(t, r)
	clients := samples(r, count)
	for _, inbound := range inbounds {
		old, next := before[inbound], after[inbound]
		differences, err := access.Compare(spaceOf(old), access.ListOf(old), access.ListOf(next), access.Limits{Work: 1 << 22})
		if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
			continue // the answer is unknown
		} else if err != nil {
			t.Errorf("seed %d, %s: %v", seed, inbound, err)
			return found
		}
		found += len(differences)
		for _, d := range differences {
			if got, want := old.Decide(d.Witness).Decision, d.Before; got != want {
				t.Errorf("seed %d, %s: %+v is decided by %+v before, not by %+v", seed, inbound, d.Witness, got.By, want.By)
			}
			if got, want := next.Decide(d.Witness).Decision, d.After; got != want {
				t.Errorf("seed %d, %s: %+v is decided by %+v after, not by %+v", seed, inbound, d.Witness, got.By, want.By)
			}
		}
		for _, c := range clients {
			x, y := old.Decide(c).Decision, next.Decide(c).Decision
			if x.Allow != y.Allow && !slices.ContainsFunc(differences, func(d access.Difference) bool { return d.Before == x && d.After == y }) {
				t.Errorf("seed %d, %s: no difference has %+v: before %+v, after %+v", seed, inbound, c, x.By, y.By)
			}
		}
	}
	return found
}

// A list opens what some sample shows; and a witness is allowed by the list alone.
func TestOpensAgreesWithSamples(t *testing.T) {
	found := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 4))
		all := []map[string]*permission.Permissions{permissiontest.Random(t, r), permissiontest.Random(t, r), permissiontest.Random(t, r)}
		clients := samples(r, 200)
		for _, inbound := range inbounds {
			x, y, z := all[0][inbound], all[1][inbound], all[2][inbound]
			witness, err := access.Opens(spaceOf(x), access.ListOf(x), access.ListOf(y), access.ListOf(z), access.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			opens := func(c *request.Request) bool {
				return x.Decide(c).Decision.Allow && !y.Decide(c).Decision.Allow && !z.Decide(c).Decision.Allow
			}
			switch {
			case witness != nil && !opens(witness):
				t.Errorf("seed %d, %s: %+v is not opened", seed, inbound, witness)
			case witness == nil && slices.ContainsFunc(clients, opens):
				t.Errorf("seed %d, %s: a sample is opened, and there is no witness", seed, inbound)
			case witness != nil:
				found++
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d lists open something", found)
	}
}

func TestRegionsAgreeWithSamples(t *testing.T) {
	for seed := range 60 {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		for inbound, p := range permissiontest.Random(t, r) {
			regions, err := access.Regions(spaceOf(p), access.ListOf(p), nil, access.Limits{})
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, inbound, err)
			}
			for _, region := range regions {
				if got := p.Decide(region.Witness).Decision; got != region.Decision {
					t.Fatalf("seed %d, %s: %+v is decided by %+v, not by %+v", seed, inbound, region.Witness, got.By, region.By)
				}
			}
			for _, c := range samples(r, 100) {
				d := p.Decide(c).Decision
				if !slices.ContainsFunc(regions, func(r access.Region) bool { return r.Decision == d }) {
					t.Fatalf("seed %d, %s: no region has %+v: %+v", seed, inbound, c, d.By)
				}
			}
		}
	}
}

// An entry is needless if and only if the list without it makes the same
// decisions.
func TestNeedlessIsWhatNothingChangesWithout(t *testing.T) {
	needless, proved := 0, 0
	for seed := range 20 {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		for inbound, p := range permissiontest.Random(t, r) {
			list := access.ListOf(p)
			entries, err := access.Needless(spaceOf(p), list, nil, access.Limits{})
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, inbound, err)
			}
			needless += len(entries)
			known := neededBy(t, p, list)
			proved += len(known)
			again, err := access.Needless(spaceOf(p), list, known, access.Limits{})
			if err != nil || !slices.Equal(again, entries) {
				t.Fatalf("seed %d, %s: with entries that are known to be needed %v are needless, not %v (%v)", seed, inbound, again, entries, err)
			}
			for i := range list.Entries {
				without := &access.List{Entries: slices.Delete(slices.Clone(list.Entries), i, i+1)}
				differences, err := access.Compare(spaceOf(p), list, without, access.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				if got, want := slices.Contains(entries, &list.Entries[i]), len(differences) == 0; got != want {
					t.Fatalf("seed %d, %s: entry %d is needless: %v, want %v: %+v", seed, inbound, i, got, want, differences)
				}
			}
		}
	}
	if needless < 20 || proved < 5 {
		t.Errorf("only %d entries were needless, and %d known to be needed", needless, proved)
	}
}

// neededBy returns the entries without which an example of what they decide has another
// decision.
func neededBy(t *testing.T, p *permission.Permissions, list *access.List) map[permission.Place]bool {
	t.Helper()
	known := map[permission.Place]bool{}
	if p.Rules == nil {
		return known
	}
	regions, err := access.Regions(spaceOf(p), list, nil, access.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, region := range regions {
		for i, entry := range p.Rules.Entries() {
			if region.By != nil && entry.Place == *region.By && p.Rules.Needs(i, region.Witness) {
				known[entry.Place] = true
			}
		}
	}
	return known
}
