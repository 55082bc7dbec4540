package relay_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A switch of variants is one response through a relay too (SPEC 9.5, 16): after each response,
// at most one variant that a client holds accepts each of its locators, and one that was accepted
// once is not lost while the upstream has a variant for it. Several clients with one to four
// locators of a name ask two relays in a row while the partition of the name changes.
func TestSwitchIsOneResponse(t *testing.T) {
	xdstest.Seeds(t, 20, func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 2))
		c := startChain(t, relay.Options{Idle: time.Minute})
		second := newSite(t, "second").relay(relay.Options{Idle: time.Minute, Upstreams: []relay.Upstream{c.relay.site.upstream()}})
		type follower struct {
			*xdstest.Client
			locators []xdstest.Locator
			t        wire.Type
			state    bool
		}
		var followers []follower
		t1, t2 := wire.ClusterType, wire.RouteType
		edit := func() {
			c.source.Edit(func(s *xdstest.State) {
				for _, k := range []wire.Type{t1, t2} {
					s.Variants[xdstest.Name{Type: k, Name: "web"}] = partitionOf(random, k)
				}
			})
		}
		edit()
		for i := range 12 {
			at := []*running{c.relay.running, second.running}[i%2]
			f := follower{Client: at.client(xdstest.Options{StateOfTheWorld: i%3 == 2}), t: []wire.Type{t1, t2}[i/2%2], state: i%3 == 2}
			for _, v := range random.Perm(4)[:1+random.IntN(4)] {
				f.locators = append(f.locators, xdstest.Locator{Name: "web", Parameters: map[string]string{"k": fmt.Sprint("v", v)}})
			}
			must(t, f.SubscribeLocators(f.t, f.locators...))
			followers = append(followers, f)
		}
		for range 100 {
			edit()
			if random.IntN(3) > 0 {
				time.Sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
			}
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		for i, f := range followers {
			if !f.state { // there a variant is not removed but replaced
				for _, problem := range xdstest.Overlaps(f.Responses(), f.t, f.locators) {
					t.Errorf("client %d: %s", i, problem)
				}
			}
			for _, l := range f.locators {
				want, _ := c.source.State().Locate(nil, f.t, l.Name, l.Parameters)
				located(t, f.Client, f.t, l, want.Resource)
			}
		}
		for i, r := range []*relay.Relay{c.relay.relay, second.relay} {
			if n := r.Counters().Rejected.Load(); n > 0 {
				t.Errorf("relay %d has rejected %d responses of an upstream that is right", i, n)
			}
		}
	})
}

// partitionOf returns variants of web that cover v0 to v3, each once.
func partitionOf(random *rand.Rand, k wire.Type) (variants []wire.Variant) {
	variant := func(c string) {
		variants = append(variants, xdstest.Variant(xdstest.Resource(k, "web", fmt.Sprint(random.IntN(20))), c))
	}
	is := func(v int) string { return equal("k", fmt.Sprint("v", v)) }
	not := func(c string) string { return `{"notConstraints": ` + c + `}` }
	or := func(a, b string) string { return fmt.Sprintf(`{"orConstraints": {"constraints": [%s, %s]}}`, a, b) }
	order := random.Perm(4)
	a, b := is(order[0]), is(order[1])
	switch random.IntN(4) {
	case 0:
		variant("")
	case 1:
		variant(a)
		variant(not(a))
	case 2:
		variant(or(a, b))
		variant(not(or(a, b)))
	case 3:
		variant(a)
		variant(b)
		variant(not(or(a, b)))
	}
	return variants
}
