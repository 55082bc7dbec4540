package match

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Moves finds the new classes of the dataplanes that [DataplaneIndex.Reached] returns and that
// are themselves unchanged. Those of one class that have the same of the facts that selectors
// began or ceased to require come to one class, which is found once.
type Moves[S any] struct {
	classes *Classes[S]
	index   *Index
	facts   []fact // nil: each class is found from nothing
	known   map[move[S]]*Class[S]
}

// move is a class of the previous version and the facts, each with its point or with all.
type move[S any] struct {
	from *Class[S]
	has  uint64
}

// MovesTo returns the moves to the version x of the index, which delta led to.
func (c *Classes[S]) MovesTo(x *Index, delta *Delta) *Moves[S] {
	m := &Moves[S]{classes: c, index: x, known: map[move[S]]*Class[S]{}}
	if len(delta.regions) > 0 {
		return m
	}
	for _, t := range delta.facts {
		if t.Space == placement || t.Space == semantics.ZoneScope { // not each is a fact of the dataplane
			return m
		}
	}
	m.facts = delta.facts
	return m
}

// Classify returns the class of a dataplane that was in the class from.
func (m *Moves[S]) Classify(from *Class[S], d *resource.Dataplane, b *Buffer) *Class[S] {
	if m.facts == nil || (len(from.points)+1)*len(m.facts) > 64 {
		return m.classes.Classify(m.index, d, b)
	}
	key := move[S]{from, m.has(d)}
	to := m.known[key]
	if to == nil {
		to = m.classes.Classify(m.index, d, b)
		m.known[key] = to
	}
	return to
}

// has returns a bit for each point and fact that the point has, and for each fact of the proxy.
func (m *Moves[S]) has(d *resource.Dataplane) (bits uint64) {
	bit := uint64(1)
	add := func(t fact) {
		for i := range m.facts {
			if m.facts[i] == t {
				bits |= bit << i
			}
		}
	}
	m.index.reading.Semantics.ProxyFacts(d, add)
	for point := range m.index.reading.Semantics.Points(d) {
		bit <<= len(m.facts)
		m.index.reading.Semantics.PointFacts(d, point, add)
	}
	return bits
}
