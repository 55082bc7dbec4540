package permission_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/permission/permissiontest"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// The reference reads SPEC 7 sentence by sentence and scans.
func TestDecideAgreesWithReference(t *testing.T) {
	scenarios := 1000
	if testing.Short() {
		scenarios = 100
	}
	for seed := range scenarios {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		set := permissiontest.Scenario(r)
		permissions, err := permissiontest.Permissions(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, inbound := range []string{"http", "tcp"} {
			p := permissions[inbound]
			for range 10 {
				q := permissiontest.Request(r)
				want, err := naive.Access(kinds.All(), set, "default", "", permissiontest.Dataplane, inbound, naiveRequest(q), naive.Options{})
				if err != nil {
					t.Fatal(err)
				}
				warnings := len(want["warnings"].([]any))
				delete(want, "warnings")
				if diff := cmp.Diff(tree(t, want), tree(t, printed(p.Decide(q)))); diff != "" {
					t.Fatalf("seed %d, inbound %s, request %+v: -reference +got\n%s", seed, inbound, q, diff)
				}
				if len(p.Warnings) != warnings {
					t.Fatalf("seed %d, inbound %s: %d warnings, the reference has %d", seed, inbound, len(p.Warnings), warnings)
				}
			}
		}
	}
}

func naiveRequest(q *permission.Request) naive.Request {
	out := naive.Request{SpiffeID: q.SpiffeID, SNI: q.SNI, Method: q.Method, Path: q.Path, Headers: map[string]string{}, Tags: map[string]string{}}
	for _, h := range q.Headers {
		out.Headers[h.Name] = h.Value
	}
	for _, tag := range q.Tags {
		out.Tags[tag.Key] = tag.Value
	}
	return out
}

// printed is the answer as SPEC 10 has it, without the warnings.
func printed(a permission.Answer) map[string]any {
	out := map[string]any{"decision": a.Decision.String(), "by": "default"}
	if a.Decision.By != nil {
		out["by"] = a.Decision.By
	}
	if a.HasShadow {
		out["shadow"] = a.Shadow
	}
	return out
}

func tree(t testing.TB, v any) (out any) {
	t.Helper()
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
