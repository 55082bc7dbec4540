package check

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The identities that a prefix matches as text alone are those that the two definitions of
// SPEC 7.2 decide differently.
func TestOnlyAsText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func() string {
		text := "spiffe://t"
		for range r.IntN(6) {
			text += string("ab/"[r.IntN(3)])
		}
		return text
	}
	differ := 0
	for range 3000 {
		var known, want []string
		for range r.IntN(8) {
			known = append(known, word())
		}
		slices.Sort(known)
		known = slices.Compact(known)
		prefix := word()
		for _, id := range known {
			below := strings.TrimSuffix(prefix, "/")
			if strings.HasPrefix(id, prefix) && id != below && !strings.HasPrefix(id, below+"/") {
				want = append(want, id)
			}
		}
		differ += len(want)
		if got := onlyAsText(known, prefix); !slices.Equal(got, want) {
			t.Fatalf("%q of %q: %q, want %q", prefix, known, got, want)
		}
	}
	if differ == 0 {
		t.Error("no prefix differs")
	}
}
