package sorted_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
)

func TestJoin(t *testing.T) {
	for _, test := range []struct{ name, a, b, want string }{
		{"nothing", "", "", ""},
		{"one side", "a b", "", "a: b:"},
		{"other side", "", "a b", ":a :b"},
		{"both", "a c d", "b C d e", "a: :b c:C d:d :e"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fold := func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }
			joined := sorted.Join(strings.Fields(test.a), strings.Fields(test.b), fold)
			for range 2 { // an iterator can be reused
				var got []string
				for a, b := range joined {
					got = append(got, a+":"+b)
				}
				if fmt.Sprint(got) != "["+test.want+"]" {
					t.Errorf("got %v, want %s", got, test.want)
				}
			}
		})
	}
	for a := range sorted.Join([]int{1, 2}, nil, func(a, b int) int { return a - b }) {
		if a != 1 {
			t.Error("a loop that has ended gets another pair")
		}
		break
	}
}
