package partition

import (
	"cmp"
	"slices"
)

// witness returns a client that reaches the terminal 1: at each key the first
// answer that can still reach it, of: no value, the mentioned values by name,
// another value. Every node of a diagram of a predicate reaches both
// terminals, so the first answer that is not 0 will do.
func (d *domain) witness(n *node) (client map[string]string, ok bool) {
	client = make(map[string]string)
	for !n.isTerminal() {
		n = d.step(n, client)
	}
	if n.number == 0 {
		return nil, false
	}
	return client, true
}

func (d *domain) step(n *node, client map[string]string) *node {
	if !isFalse(n.absent) {
		return n.absent
	}
	key := &d.keys[n.key]
	for _, e := range d.edgesByName(n) {
		if !isFalse(e.child) {
			client[key.name] = key.values[e.value]
			return e.child
		}
	}
	client[key.name] = key.unmentioned()
	return n.other
}

func isFalse(n *node) bool { return n.isTerminal() && n.number == 0 }
func isTrue(n *node) bool  { return n.isTerminal() && n.number == 1 }

// edgesByName returns the edges in an order that does not depend on how values
// were numbered.
func (d *domain) edgesByName(n *node) []edge {
	values := d.keys[n.key].values
	edges := slices.Clone(n.edges)
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(values[a.value], values[b.value]) })
	return edges
}
