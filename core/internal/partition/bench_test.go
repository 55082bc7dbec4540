package partition

import (
	"fmt"
	"testing"
)

// wholeOverrides returns items that set everything, so that a client has the content
// of the item with the highest priority that selects it.
func wholeOverrides(n int) overriding {
	a := make(overriding, n)
	for i := range a {
		a[i] = 1
	}
	return a
}

func distinctKeys(n int) []Tags {
	items := make([]Tags, n)
	for i := range items {
		items[i] = Tags{fmt.Sprintf("key-%02d", i): "v"}
	}
	return items
}

// meshAndServices returns one item for all clients and n-1 items for one
// service each.
func meshAndServices(n int) []Tags {
	items := []Tags{{}}
	for i := 1; i < n; i++ {
		items = append(items, Tags{"kuma.io/service": fmt.Sprintf("svc-%d", i)})
	}
	return items
}

// twoKeys alternates between items of a service and items of a zone.
func twoKeys(n int) []Tags {
	items := make([]Tags, n)
	for i := range items {
		if i%2 == 0 {
			items[i] = Tags{"kuma.io/service": fmt.Sprintf("svc-%d", i)}
		} else {
			items[i] = Tags{"kuma.io/zone": fmt.Sprintf("zone-%d", i)}
		}
	}
	return items
}

func benchmarkForms[S comparable](b *testing.B, items []Tags, algebra Algebra[S], ordered, disjoint int) {
	b.Run("ordered", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			rules, err := Ordered(items, algebra, Limits{})
			if err != nil || len(rules) != ordered {
				b.Fatalf("%d rules, %v; want %d", len(rules), err, ordered)
			}
		}
		b.ReportMetric(float64(ordered), "rules")
	})
	b.Run("disjoint", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n, err := disjointRules(Build(predicatesOf(items), algebra, Limits{})); err != nil || n != disjoint {
				b.Fatalf("%d rules, %v; want %d", n, err, disjoint)
			}
		}
		b.ReportMetric(float64(disjoint), "rules")
	})
}

// SPEC 5.5 requires about k rules, not 2^k, and at most quadratic growth.
func BenchmarkDistinctKeys(b *testing.B) {
	for _, k := range []int{5, 10, 20, 40} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			benchmarkForms(b, distinctKeys(k), wholeOverrides(k), k, k)
		})
	}
}

func BenchmarkMeshAndServices(b *testing.B) {
	for _, n := range []int{20, 1000, 10000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			benchmarkForms(b, meshAndServices(n), wholeOverrides(n), n, n)
		})
	}
}

func BenchmarkTwoKeys(b *testing.B) {
	for _, n := range []int{20, 40} {
		b.Run(fmt.Sprintf("n=%d/whole", n), func(b *testing.B) {
			disjoint, _ := disjointRules(Build(predicatesOf(twoKeys(n)), wholeOverrides(n), Limits{}))
			benchmarkForms(b, twoKeys(n), wholeOverrides(n), n, disjoint)
		})
		b.Run(fmt.Sprintf("n=%d/nothing-overridden", n), func(b *testing.B) {
			benchmarkForms(b, twoKeys(n), collecting{}, n/2*n/2+n, n/2*n/2+n)
		})
	}
}

func BenchmarkEvaluate(b *testing.B) {
	p, err := Build(predicatesOf(distinctKeys(20)), wholeOverrides(20), Limits{})
	if err != nil {
		b.Fatal(err)
	}
	client := map[string]string{"key-00": "v", "key-07": "w"}
	b.ReportAllocs()
	for b.Loop() {
		if content, selected := p.Evaluate(client); !selected || content.origins != 1 {
			b.Fatal(content)
		}
	}
}

// A rule view that has no small form must fail quickly.
func BenchmarkLimit(b *testing.B) {
	items := distinctKeys(64)
	b.Run("ordered", func(b *testing.B) {
		for b.Loop() {
			if _, err := Ordered(items, collecting{}, Limits{}); err == nil {
				b.Fatal("no error")
			}
		}
	})
	b.Run("disjoint", func(b *testing.B) {
		for b.Loop() {
			if _, err := Build(predicatesOf(items), collecting{}, Limits{}); err == nil {
				b.Fatal("no error")
			}
		}
	})
}
