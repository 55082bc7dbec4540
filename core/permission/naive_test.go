package permission_test

import (
	"math/rand/v2"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// The reference follows SPEC 7 sentence by sentence and scans all entries.
func TestDecideAgreesWithReference(t *testing.T) {
	scenarios := 200
	if testing.Short() {
		scenarios = 50
	}
	for seed := range scenarios {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		set := permissiontest.Scenario(r)
		permissions, err := permissiontest.Permissions(set)
		if err != nil {
			t.Fatal(err)
		}
		for inbound, p := range permissions {
			for range 10 {
				c := permissiontest.RandomClient(r)
				if r.IntN(3) == 0 {
					named := []string{"x-team", "close, X-Canary", "cookie,,keep-alive", "upgrade"}
					c.Lines = append(c.Lines, request.Header{Name: "Connection", Value: named[r.IntN(len(named))]})
				}
				want, warnings, err := permissiontest.Reference(set, inbound, c)
				if err != nil {
					t.Fatal(err)
				}
				if got := permissiontest.Text(p.Decide(c.Request())); got != want {
					t.Fatalf("seed %d, inbound %s, request %+v: %s, the reference decides %s", seed, inbound, c, got, want)
				}
				if explained := p.Explain(c.Request()); permissiontest.Text(explained.Answer) != want {
					t.Fatalf("seed %d, inbound %s, request %+v: explained as %+v, the reference decides %s", seed, inbound, c, explained, want)
				}
				if len(p.Warnings) != warnings {
					t.Fatalf("seed %d, inbound %s: %d warnings, the reference has %d", seed, inbound, len(p.Warnings), warnings)
				}
			}
		}
	}
}
