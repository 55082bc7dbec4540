package partition

import (
	"cmp"
	"slices"
)

// clientAt returns a client that reaches a terminal whose number is wanted, or false if
// there is no such terminal. For each key the client has the first value that leads to
// such a terminal, in this order: no value, the mentioned values by name, another
// value.
func (d *domain) clientAt(root *node, wanted func(number uint32) bool) (client map[string]string, ok bool) {
	s := clientSearch{domain: d, wanted: wanted, client: make(map[string]string)}
	if !s.from(root) {
		return nil, false
	}
	return s.client, true
}

type clientSearch struct {
	*domain
	wanted func(number uint32) bool
	failed map[*node]bool // nodes from which no wanted terminal can be reached
	client map[string]string
}

// from sets the client's values for the keys of n and of the nodes below it. It reports
// whether a wanted terminal can be reached.
func (s *clientSearch) from(n *node) bool {
	if n.isTerminal() {
		return s.wanted(n.number)
	}
	if s.failed[n] {
		return false
	}
	if s.from(n.absent) {
		return true
	}
	key := &s.keys[n.key]
	for _, e := range s.edgesByName(n) {
		if s.from(e.child) {
			s.client[key.name] = key.values[e.value]
			return true
		}
	}
	if s.from(n.other) {
		s.client[key.name] = key.unmentioned()
		return true
	}
	if s.failed == nil {
		s.failed = make(map[*node]bool)
	}
	s.failed[n] = true
	return false
}

// isOne reports whether number is the number of the terminal true.
func isOne(number uint32) bool { return number == 1 }

func isFalse(n *node) bool { return n.isTerminal() && n.number == 0 }
func isTrue(n *node) bool  { return n.isTerminal() && n.number == 1 }

// edgesByName returns the edges by the names of their values, an order that does not
// depend on the numbers of the values.
func (d *domain) edgesByName(n *node) []edge {
	values := d.keys[n.key].values
	edges := slices.Clone(n.edges)
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(values[a.value], values[b.value]) })
	return edges
}
