package request

import (
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// ByPrefix contains a value for each prefix of SPIFFE IDs, or of paths. The zero value is empty.
//
// A prefix by segment is looked up by the leading segments of an ID. A prefix of text is
// looked up by the beginnings of an ID that have the length of such a prefix. So a lookup
// does not depend on the number of prefixes.
type ByPrefix[T any] struct {
	below             map[string]T // keys without a trailing slash
	shortest, longest int          // lengths of keys of below
	begins            map[string]T
	lengths           []int // of the keys of begins, in ascending order
}

// Change replaces the value of the prefix of a match. Change is given the present value, and
// reports with known whether there is one.
func (b *ByPrefix[T]) Change(m *conf.SpiffeIDMatch, change func(value T, known bool) T) {
	if m.Type == conf.SpiffeIDTextPrefix {
		if b.begins == nil {
			b.begins = map[string]T{}
		}
		if i, found := slices.BinarySearch(b.lengths, len(m.Value)); !found {
			b.lengths = slices.Insert(b.lengths, i, len(m.Value))
		}
		value, known := b.begins[m.Value]
		b.begins[m.Value] = change(value, known)
		return
	}
	b.ChangeBelow(m.Value, change)
}

// ChangeBelow replaces the value of a prefix by segment, like [ByPrefix.Change].
func (b *ByPrefix[T]) ChangeBelow(prefix string, change func(value T, known bool) T) {
	prefix = TrimSlash(prefix)
	if b.below == nil {
		b.below, b.shortest = map[string]T{}, len(prefix)
	}
	b.shortest, b.longest = min(b.shortest, len(prefix)), max(b.longest, len(prefix))
	value, known := b.below[prefix]
	b.below[prefix] = change(value, known)
}

// All yields the values of the prefixes that match a SPIFFE ID or a path.
func (b *ByPrefix[T]) All(id string) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := b.shortest; i <= len(id) && i <= b.longest && len(b.below) > 0; i++ {
			if i < len(id) && id[i] != '/' {
				continue
			}
			if value, ok := b.below[id[:i]]; ok && !yield(value) {
				return
			}
		}
		for _, n := range b.lengths {
			if n > len(id) {
				return
			}
			if value, ok := b.begins[id[:n]]; ok && !yield(value) {
				return
			}
		}
	}
}

// MatchesDomain reports whether a match can hold for a SPIFFE ID of a trust domain.
func MatchesDomain(m *conf.SpiffeIDMatch, domain string) bool {
	of, _, hasPath := strings.Cut(strings.TrimPrefix(m.Value, "spiffe://"), "/")
	if m.Type == conf.SpiffeIDTextPrefix && !hasPath {
		return strings.HasPrefix(domain, of)
	}
	return of == domain
}
