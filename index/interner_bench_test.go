package index

import (
	"fmt"
	"maps"
	"testing"
)

const benchKeys = 100_000

func serviceTag(i int) tag { return tag{"kuma.io/service", fmt.Sprint("svc-", i)} }

// BenchmarkInternerAdd publishes a version of 100,000 keys with one more key.
// The baselines are simpler designs: a map that each commit copies, and a copied
// map of at most 512 new keys over a large map, into which it is then merged
// (the mean includes the merges).
func BenchmarkInternerAdd(b *testing.B) {
	e := NewInterner[tag]().Edit()
	whole := map[tag]uint32{}
	for i := range benchKeys {
		whole[serviceTag(i)] = e.Intern(serviceTag(i))
	}
	base := e.Commit()
	added := serviceTag(benchKeys)
	b.Run("interner", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e := base.Edit()
			if id := e.Intern(added); id != benchKeys || e.Commit().Len() != benchKeys+1 {
				b.Fatal(id)
			}
		}
	})
	b.Run("interner/growing", func(b *testing.B) { // the mean includes the splits
		b.ReportAllocs()
		in, n := base, benchKeys
		for b.Loop() {
			e := in.Edit()
			if id := e.Intern(tag{added.key, fmt.Sprint(n)}); id != uint32(n) {
				b.Fatal(id)
			}
			in, n = e.Commit(), n+1
		}
	})
	b.Run("map copied by commit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			next := maps.Clone(whole)
			next[added] = benchKeys
			if len(next) != benchKeys+1 {
				b.Fatal(len(next))
			}
		}
	})
	b.Run("map under a copied map", func(b *testing.B) {
		b.ReportAllocs()
		under, over, n := whole, map[tag]uint32{}, benchKeys
		for b.Loop() {
			key := tag{added.key, fmt.Sprint(n)}
			if _, ok := under[key]; ok {
				b.Fatal("was there")
			}
			over = maps.Clone(over)
			over[key] = uint32(n)
			n++
			if len(over) == 512 {
				under = maps.Clone(under)
				maps.Copy(under, over)
				over = map[tag]uint32{}
			}
		}
		if len(under)+len(over) != n {
			b.Fatal("lost a key")
		}
	})
}

func BenchmarkInternerLookup(b *testing.B) {
	e := NewInterner[tag]().Edit()
	whole := map[tag]uint32{}
	var present, absent [1024]tag
	for i := range benchKeys {
		whole[serviceTag(i)] = e.Intern(serviceTag(i))
	}
	for i := range present {
		present[i], absent[i] = serviceTag(i*97), serviceTag(benchKeys+i)
	}
	in := e.Commit()
	lookups := []struct {
		name   string
		lookup func(tag) (uint32, bool)
	}{
		{"interner", in.Lookup},
		{"map", func(key tag) (uint32, bool) { id, ok := whole[key]; return id, ok }},
	}
	for _, c := range lookups {
		b.Run(c.name+"/present", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if id, ok := c.lookup(present[i%1024]); !ok || id != uint32(i%1024*97) {
					b.Fatal(id, ok)
				}
			}
		})
		b.Run(c.name+"/absent", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if id, ok := c.lookup(absent[i%1024]); ok {
					b.Fatal(id)
				}
			}
		})
	}
}
