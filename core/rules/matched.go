package rules

import (
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Selected is a policy that selects a dataplane, with the inbounds that it
// selects. The set is empty on a dataplane without inbounds.
type Selected struct {
	Policy   *resource.Policy
	Inbounds InboundSet
}

// Equal reports whether both are the same version of a policy and the same
// inbounds.
func (s *Selected) Equal(o *Selected) bool {
	return s.Policy == o.Policy && s.Inbounds.equal(&o.Inbounds)
}

// Matched is the list of the policies of one kind that select a dataplane, in
// order: later policies override earlier ones (SPEC 3). It is immutable; the
// zero Matched is empty.
//
// The list consists of pages. Lists that differ in the versions of some
// policies share the other pages: a list of 1,090 policies takes 27 KB, and the
// same list with another version of one policy takes 1.7 KB in addition
// (BenchmarkReplace in core/internal/match).
type Matched struct {
	pages [][]Selected // all but the last are full
	n     int
}

const matchedPage = 32

// NewMatched returns a list of a copy of the given policies.
func NewMatched(selected []Selected) Matched {
	pages := slices.Chunk(slices.Clone(selected), matchedPage)
	return Matched{pages: slices.AppendSeq(make([][]Selected, 0, (len(selected)+matchedPage-1)/matchedPage), pages), n: len(selected)}
}

// Len returns the number of policies.
func (m Matched) Len() int { return m.n }

// At returns policy i of the list. The caller must not change it.
func (m Matched) At(i int) *Selected { return &m.pages[i/matchedPage][i%matchedPage] }

// All yields the policies in order, with their position. The caller must not
// change them.
func (m Matched) All() iter.Seq2[int, *Selected] {
	return func(yield func(int, *Selected) bool) {
		for n, page := range m.pages {
			for i := range page {
				if !yield(n*matchedPage+i, &page[i]) {
					return
				}
			}
		}
	}
}

// Without returns the list without the policies at the given positions, which must be
// sorted and distinct. It shares with m the pages that precede the first position.
func (m Matched) Without(positions []int) Matched {
	if len(positions) == 0 {
		return m
	}
	shared := positions[0] / matchedPage
	rest := make([]Selected, 0, m.n-shared*matchedPage-len(positions))
	for i := shared * matchedPage; i < m.n; i++ {
		if len(positions) > 0 && positions[0] == i {
			positions = positions[1:]
			continue
		}
		rest = append(rest, *m.At(i))
	}
	pages := slices.AppendSeq(slices.Clip(m.pages[:shared]), slices.Chunk(rest, matchedPage))
	return Matched{pages: pages, n: shared*matchedPage + len(rest)}
}

// Pages returns the pages of the list. Two lists share a page if it is the same
// slice in both. The caller must not change the result.
func (m Matched) Pages() [][]Selected { return m.pages }

// WithPages returns a list of the same length that consists of the given pages,
// which the caller must not change afterwards.
func (m Matched) WithPages(pages [][]Selected) Matched { return Matched{pages: pages, n: m.n} }

// Scope selects the policies that contribute to a result. The zero Scope is
// Enforced.
type Scope uint8

const (
	// Enforced is the scope of the policies that are enforced on a dataplane:
	// its effective configuration.
	Enforced Scope = iota
	// Shadow is the scope of all policies, including those that only inform
	// (SPEC 8.3): the configuration if everything were enforced.
	Shadow
)
