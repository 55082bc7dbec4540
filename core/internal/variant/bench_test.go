package variant

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// grid returns n mutually exclusive constraints over ten keys: variant i requires that
// the value of each key is the corresponding decimal digit of i.
func grid(n int) []Constraint {
	constraints := make([]Constraint, n)
	for i := range constraints {
		var members []partition.Predicate
		for key, value := range digits(i, 0) {
			members = append(members, partition.Equal(key, value))
		}
		constraints[i] = Constraint{predicate: partition.And(members...)}
	}
	return constraints
}

// BenchmarkAdmit validates the variants of one name. They are accepted, or refused with
// parameters.
func BenchmarkAdmit(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		accepted := grid(n)
		b.Run(fmt.Sprintf("variants=%d/accepted", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if set, err := NewSet(accepted); err != nil || set.Len() != n {
					b.Fatal(err)
				}
			}
		})
		refused := append(grid(n-1), accepted[n/2])
		b.Run(fmt.Sprintf("variants=%d/refused", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, err := NewSet(refused)
				if e, ok := err.(*AmbiguityError); !ok || e.First != n/2 || e.Second != n-1 || !refused[n-1].Accepts(e.Parameters) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkChoose looks up ten parameters among the variants of one name, with and
// without 90 parameters that no variant names.
func BenchmarkChoose(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		set, err := NewSet(grid(n))
		if err != nil {
			b.Fatal(err)
		}
		for _, irrelevant := range []int{0, 90} {
			clients := make([]Parameters, 64)
			for i := range clients {
				clients[i] = digits(i*(n/64), irrelevant)
			}
			b.Run(fmt.Sprintf("variants=%d/irrelevant=%d", n, irrelevant), func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					chosen := i % len(clients)
					if variant, ok := set.Choose(clients[chosen]); !ok || variant != chosen*(n/64) {
						b.Fatal(variant, ok)
					}
					i++
				}
			})
		}
	}
}

// digits returns the ten parameters of variant i of the grid, and others that no variant
// names.
func digits(i, irrelevant int) Parameters {
	p := Parameters{}
	for k := range irrelevant {
		p[fmt.Sprint("irrelevant-", k)] = "value"
	}
	for k := range 10 {
		p[fmt.Sprint("key-", k)] = fmt.Sprint("value-", i%10)
		i /= 10
	}
	return p
}
