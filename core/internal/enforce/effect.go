package enforce

import (
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/index"
)

// Effect contains the clusters on which an OCM policy is placed, and on which it
// is enforced (SPEC 8.2). It is immutable.
type Effect struct {
	Policy *ocm.Policy
	paths  []path
	// placed is P of SPEC 8.2, enforced a subset of it.
	placed, enforced index.Set
}

// path is a path from a binding to a policy.
type path struct {
	binding  *ocm.PlacementBinding
	clusters index.Set // of the binding's placement, without the exclusions of the set
}

// newEffect evaluates a policy. P, Q and R are the sets of SPEC 8.2. Q is a subset
// of P, so Q ∪ (P ∩ R) is P ∩ (Q ∪ R): the clusters on which the policy is placed
// and that any override contains.
func newEffect(p *ocm.Policy, paths []path) *Effect {
	e := &Effect{Policy: p, paths: paths}
	if p.Disabled {
		return e
	}
	var overridden index.Set
	for _, x := range paths {
		if !x.binding.SubFilter {
			e.placed = e.placed.Or(x.clusters)
		}
		if x.binding.Enforce {
			overridden = overridden.Or(x.clusters)
		}
	}
	switch p.Action {
	case ocm.Enforce:
		e.enforced = e.placed
	case ocm.Inform:
		e.enforced = e.placed.And(overridden)
	}
	return e
}

// Target is the action of a policy on one cluster or dataplane.
type Target struct {
	Action ocm.Action // Enforce or Inform
	// Because contains the sorted names of the bindings that cause the action: the
	// bindings that enforce the policy or, if the policy itself enforces or informs,
	// the bindings that place it.
	Because []string
}

// Targets yields the clusters on which a policy of s is placed, sorted by name.
// Targets with the same causes share their list.
func (s *Hub) Targets(e *Effect) iter.Seq2[string, Target] {
	return func(yield func(string, Target) bool) {
		if e.placed.Len() == 0 {
			return
		}
		ids := e.placed.AppendTo(nil)
		causes := e.causes(ids)
		for _, c := range s.appendByName(make([]cluster, 0, len(ids)), ids) {
			if !yield(c.name, causes.target(c.id)) {
				return
			}
		}
	}
}

// causes contains a row of bits for each cluster on which a policy is placed. The
// bits indicate whether the policy is enforced there, and which paths are the
// cause. A policy has few distinct rows, and clusters with the same row share
// their target.
type causes struct {
	effect *Effect
	width  int      // bytes of a row
	rows   []byte   // by the number of the cluster
	number []uint32 // of a cluster, by its id
	known  map[string]Target
}

// causes evaluates the clusters on which the policy is placed, given by ascending
// ids.
func (e *Effect) causes(ids []uint32) *causes {
	c := &causes{effect: e, width: len(e.paths)/8 + 1, known: map[string]Target{}}
	c.rows = make([]byte, len(ids)*c.width)
	c.number = make([]uint32, ids[len(ids)-1]+1)
	for number, id := range ids {
		c.number[id] = uint32(number)
	}
	for id := range e.enforced.All() {
		c.row(id)[0] |= 1
	}
	overrides := e.Policy.Action == ocm.Inform
	for i, x := range e.paths {
		for id := range x.clusters.And(e.placed).All() {
			row := c.row(id)
			overridden := overrides && row[0]&1 != 0
			if overridden && x.binding.Enforce || !overridden && !x.binding.SubFilter {
				row[(i+1)/8] |= 1 << ((i + 1) % 8)
			}
		}
	}
	return c
}

// row returns the row of a cluster: bit 0 is set if the policy is enforced there, and
// bit i+1 if path i is a cause.
func (c *causes) row(id uint32) []byte {
	from := int(c.number[id]) * c.width
	return c.rows[from : from+c.width]
}

// target returns the action of the policy on a cluster.
func (c *causes) target(id uint32) Target {
	row := c.row(id)
	if target, known := c.known[string(row)]; known {
		return target
	}
	target := Target{Action: ocm.Inform}
	if row[0]&1 != 0 {
		target.Action = ocm.Enforce
	}
	for i := range c.effect.paths {
		if row[(i+1)/8]&(1<<((i+1)%8)) != 0 {
			target.Because = append(target.Because, c.effect.paths[i].binding.Name)
		}
	}
	slices.Sort(target.Because)
	target.Because = slices.Compact(target.Because)
	c.known[string(row)] = target
	return target
}
