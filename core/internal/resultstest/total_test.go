package resultstest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/resultstest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func TestCheckTotalFindsFaults(t *testing.T) {
	policy := func(name string) *resource.Policy {
		return &resource.Policy{Meta: resource.Meta{ID: resource.ID{Kind: "K", Mesh: "default", Name: name}}}
	}
	a, b, c := policy("a"), policy("b"), policy("c")
	cycle := map[string]string{"a": "b", "b": "c", "c": "a"}
	c.Namespace = "x"
	for name, fault := range map[string]struct {
		order results.Order
		want  string
	}{
		"all equal": {func(a, b *resource.Policy) int { return 0 }, `K "a" in mesh "default" and K "b" in mesh "default" are in no order`},
		"by name, descending for two of them": {func(p, q *resource.Policy) int {
			if p != a && q != a {
				return strings.Compare(q.Namespace, p.Namespace)
			}
			return strings.Compare(p.Name, q.Name)
		}, ""},
		"not equal to itself": {func(p, q *resource.Policy) int {
			if p == q && p == c {
				return 1
			}
			return strings.Compare(p.Name, q.Name)
		}, `K "c" of namespace "x" in mesh "default" does not equal itself`},
		"one-sided": {func(a, b *resource.Policy) int {
			if a == b {
				return 0
			}
			return -1
		}, `K "a" in mesh "default" and K "b" in mesh "default" compare differently when swapped`},
		"cycle": {func(a, b *resource.Policy) int {
			switch {
			case a == b:
				return 0
			case cycle[a.Name] == b.Name:
				return -1
			}
			return 1
		}, `K "a" in mesh "default", K "b" in mesh "default" and K "c" of namespace "x" in mesh "default" are in a cycle`},
	} {
		err := resultstest.CheckTotal(fault.order, []*resource.Policy{a, b, c})
		if got := fmt.Sprint(err); fault.want == "" && err != nil || fault.want != "" && got != fault.want {
			t.Errorf("%s: got %s, want %q", name, got, fault.want)
		}
	}
}
