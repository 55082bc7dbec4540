package index

// A TermIndex is an immutable index of selectors. A selector is an id with the
// terms that it requires. It matches an item that has all of these terms; a
// selector without terms always matches. The index answers "which selectors
// match an item with these terms?"
//
// Selectors that require the same terms form one conjunction, which is verified
// once for all of them. A conjunction is filed under one of its terms, so that an
// item's candidates are the conjunctions filed under the item's own terms:
//
//	selector  -> conjunction
//	term      -> the number of conjunctions that require it, and the conjunctions filed under it
//
// It is filed under its rarest term, which the fewest conjunctions require. So a
// label that every selector requires costs nothing; if it is their only term, they
// form one conjunction. The rarest term changes with the selectors;
// TermIndexEditor describes how conjunctions are filed again.
//
// One item against 10,000 selectors, on one core with a warm cache
// (BenchmarkMatch; "scan" verifies every selector, "masks" ANDs roaring bitmaps):
//
//	                           matching  candidates   index     scan    masks
//	policies of a mesh            1,090           5  0.63 µs    36 µs    16 µs
//	sparse                            7           9  0.07 µs    46 µs    20 µs
//	all share a label                 7           9  0.10 µs    45 µs    49 µs
//	all different, over 20 terms      3       8,254   2.6 µs   193 µs   662 µs
//
// The last row is the worst case of filing: no term is rare. Signatures then reject
// most candidates. Matching 10,000 different items in turn against the sparse
// selectors takes 0.22 µs each (BenchmarkMatchManyItems). Publishing a version with
// one of 10,000 selectors replaced takes 8 to 13 µs, and 42 µs in that worst case.
// This is BenchmarkReplaceSelector, the minimum of 25 runs on a machine with other
// load.
//
// The zero TermIndex is empty.
type TermIndex struct {
	selectors    Vector[uint32]       // by selector: its conjunction's number + 1; 0: no such selector
	conjunctions slab[*conjunction]   // by number
	byTerms      hashTable            // from hashTerms to numbers
	terms        Vector[termPostings] // by term
	always       *conjunction         // the conjunction without terms, or nil
	sweep        uint32               // the number from which the next commit checks filing
}

// A conjunction is immutable once its editor has committed.
type conjunction struct {
	terms  []Term // sorted, distinct; shared by all versions of the conjunction
	number uint32
	filed  Term // one of terms; unused if there are none
	ids    Set  // the selectors that require exactly terms; not empty
	open   int  // index in TermIndexEditor.open of the editor that made it
}

type termPostings struct {
	owner    *owner // of filed's backing array
	filed    []filedConjunction
	required uint32 // the conjunctions that have the term
}

// A filedConjunction has a signature that rejects most candidates without reading
// the conjunction itself.
type filedConjunction struct {
	signature uint64 // of the conjunction's terms
	*conjunction
}

// signature sets one of 64 bits for each term, by a hash. If the signature of a
// conjunction has a bit that the signature of the item lacks, then the item
// lacks a term of the conjunction.
func signature(terms []Term) (s uint64) {
	for _, t := range terms {
		s |= 1 << (uint32(t) * 0x9e37_79b1 >> 26)
	}
	return s
}

// Terms returns the terms that the selector requires, sorted and without
// duplicates, for reading only; nil if there is no such selector.
func (x *TermIndex) Terms(id uint32) []Term {
	ref := x.selectors.Value(id)
	if ref == 0 {
		return nil
	}
	return x.conjunctions.get(ref - 1).value.terms
}

// Match appends to dst the ids of the selectors that match an item with these
// terms. It appends each id once, in no particular order. The terms must be sorted
// and distinct (see [SortTerms]). Match allocates only if the capacity of dst is
// too small. candidates is the number of conjunctions that it verified, a measure
// of the work.
func (x *TermIndex) Match(terms []Term, dst []uint32) (ids []uint32, candidates int) {
	if x.always != nil {
		candidates++
		dst = x.always.ids.AppendTo(dst)
	}
	lacks := ^signature(terms)
	for _, t := range terms {
		p := x.terms.Get(uint32(t))
		if p == nil {
			continue
		}
		candidates += len(p.filed)
		for _, c := range p.filed {
			if c.signature&lacks == 0 && c.matches(terms) {
				dst = c.ids.AppendTo(dst)
			}
		}
	}
	return dst, candidates
}

// matches reports whether terms contains all terms of c. It does not compare the
// term under which c is filed.
func (c *conjunction) matches(terms []Term) bool {
	for _, t := range c.terms {
		if t != c.filed && !hasTerm(terms, t) {
			return false
		}
	}
	return true
}
