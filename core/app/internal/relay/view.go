package relay

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A held variant is one that the upstream has sent. It is immutable, except used.
type held struct {
	variant   wire.Variant
	predicate partition.Predicate
	version   string // as the upstream gave it
	// used is when a client was last known to use it, see Relay.clock.
	used atomic.Int64
}

// use records that a client uses the variant. Most calls only read: clients on all
// processors share it.
func (h *held) use(now int64) {
	if h.used.Load() < now {
		h.used.Store(now)
	}
}

// A view is the variants of a name. It is immutable.
type view struct {
	variants []*held           // sorted by constraints
	choice   *partition.Choice // among the variants; nil: each is tried
}

// maxChoice limits the variants of a name that are combined into one decision diagram. An
// upstream that has more of them sends conjunctions (SPEC 9.4), which are tried one by one.
const maxChoice = 256

// choose returns the variant that covers parameters, or nil.
func (v *view) choose(parameters map[string]string) *held {
	switch {
	case v == nil:
		return nil
	case v.choice != nil:
		if i, ok := v.choice.Choose(parameters); ok {
			return v.variants[i]
		}
		return nil
	}
	for _, h := range v.variants {
		if h.predicate.Accepts(parameters) {
			return h
		}
	}
	return nil
}

// newView returns the view of variants, which it sorts. The error is that two of them accept
// the same parameters, or that this cannot be decided. Before is the previous view: variants
// that are in it too are known to be disjoint.
func newView(variants []*held, before *view) (*view, error) {
	slices.SortFunc(variants, func(a, b *held) int { return strings.Compare(a.variant.Constraints, b.variant.Constraints) })
	v := &view{variants: variants}
	if len(variants) < 2 {
		return v, nil
	}
	if before != nil && before.choice != nil && slices.EqualFunc(variants, before.variants, func(a, b *held) bool {
		return a.variant.Constraints == b.variant.Constraints
	}) {
		v.choice = before.choice // only contents changed
		return v, nil
	}
	if len(variants) > maxChoice {
		return v, v.checkPairs(before)
	}
	predicates := lists.Map(variants, func(h *held) partition.Predicate { return h.predicate })
	choice, overlap, err := partition.NewChoice(predicates, limitsOf(len(variants)))
	if err != nil {
		return nil, err
	}
	if overlap != nil {
		return nil, &overlapError{overlap.Witness}
	}
	v.choice = choice
	return v, nil
}

// An overlapError is that two variants of a name accept the same parameters.
type overlapError struct{ witness map[string]string }

func (e *overlapError) Error() string {
	return fmt.Sprintf("two variants accept the same parameters, such as %.500v", e.witness)
}

// limitsOf returns limits on the work with some constraints, as package variant has them.
func limitsOf(constraints int) partition.Limits {
	return partition.Limits{Work: 1<<21 + 4_000*constraints}
}

// checkPairs compares each variant that is new with all others.
func (v *view) checkPairs(before *view) error {
	for _, h := range v.variants {
		if before.find(h.variant.Constraints) != nil {
			continue
		}
		for _, other := range v.variants {
			if other == h {
				continue
			}
			if err := checkDisjoint(h.predicate, other.predicate); err != nil {
				return err
			}
		}
	}
	return nil
}

// find returns the variant with constraints, or nil.
func (v *view) find(constraints string) *held {
	if v == nil {
		return nil
	}
	at, found := slices.BinarySearchFunc(v.variants, constraints, func(h *held, c string) int {
		return strings.Compare(h.variant.Constraints, c)
	})
	if !found {
		return nil
	}
	return v.variants[at]
}

// checkDisjoint returns an error if two predicates accept the same parameters.
func checkDisjoint(a, b partition.Predicate) error {
	if contradict(a, b) {
		return nil
	}
	_, overlap, err := partition.NewChoice([]partition.Predicate{a, b}, limitsOf(2))
	if overlap != nil {
		return &overlapError{overlap.Witness}
	}
	return err
}

// contradict reports whether two conjunctions have members that exclude each other. It finds
// no other reason why predicates are disjoint.
func contradict(a, b partition.Predicate) bool {
	for _, p := range conjuncts(a) {
		for _, q := range conjuncts(b) {
			if excludes(p, q) || excludes(q, p) {
				return true
			}
		}
	}
	return false
}

func conjuncts(p partition.Predicate) []partition.Predicate {
	if p.Op() == partition.OpAnd {
		return p.Members()
	}
	return []partition.Predicate{p}
}

// excludes reports whether no parameters satisfy two literals.
func excludes(p, q partition.Predicate) bool {
	switch {
	case p.Op() == partition.OpEqual && q.Op() == partition.OpEqual:
		return p.Key() == q.Key() && p.Value() != q.Value()
	case q.Op() != partition.OpNot:
		return false
	}
	not := q.Members()[0]
	switch {
	case not.Op() == partition.OpPresent && (p.Op() == partition.OpEqual || p.Op() == partition.OpPresent):
		return not.Key() == p.Key()
	case not.Op() == partition.OpEqual && p.Op() == partition.OpEqual:
		return not.Key() == p.Key() && not.Value() == p.Value()
	}
	return false
}
