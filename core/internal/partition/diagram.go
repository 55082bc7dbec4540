package partition

import (
	"cmp"
	"math"
	"slices"
)

// A node is one test of a decision diagram: which value does the client have for
// this key? It is sparse: edges contains a value only if its answer differs from
// other, the answer for a value that no predicate mentions. A terminal has no
// test, only a number. In the diagram of a predicate, 1 is true and 0 is false; in
// the diagram of a partition, the number identifies a content.
//
//	key      the number of the key in the domain; terminals: terminalKey
//	edges    by ascending value, no child is equal to other
//	other    for any value without an edge
//	absent   for clients without the key
//
// Nodes are immutable, and within one builder equal nodes are the same node.
// Together with the order of keys (a child's key is larger) this makes diagrams
// canonical: two diagrams of one builder have equal results if and only if they
// are the same pointer. No edge leads to other, so a diagram does not depend on
// which values other predicates mention.
type node struct {
	key    int32
	number uint32 // terminals only
	id     uint32 // unique within the builder
	other  *node
	absent *node
	edges  []edge
}

type edge struct {
	value uint32
	child *node
}

const terminalKey = math.MaxInt32

func (n *node) isTerminal() bool { return n.key == terminalKey }

// branchesOf returns the three answers of n for a key that is not larger than the key
// of n. For a key that n does not test, each answer is n itself.
func (n *node) branchesOf(key int32) (other, absent *node, edges []edge) {
	if n.key != key {
		return n, n, nil
	}
	return n.other, n.absent, n.edges
}

// child returns the answer for a declared value.
func (n *node) child(value uint32) *node {
	at, found := slices.BinarySearchFunc(n.edges, value, func(e edge, value uint32) int { return cmp.Compare(e.value, value) })
	if found {
		return n.edges[at].child
	}
	return n.other
}

// walk returns the terminal that a client reaches. It does not allocate.
func (d *domain) walk(n *node, client map[string]string) *node {
	for !n.isTerminal() {
		key := &d.keys[n.key]
		name, present := client[key.name]
		switch {
		case !present:
			n = n.absent
		case len(n.edges) <= fewEdges:
			n = n.childByName(key, name)
		default:
			if value, mentioned := key.index[name]; mentioned {
				n = n.child(value)
			} else {
				n = n.other
			}
		}
	}
	return n
}

// fewEdges is the number of values up to which comparing each value costs less than
// hashing the name. If ten keys decide together, most nodes have one edge.
const fewEdges = 4

func (n *node) childByName(key *domainKey, name string) *node {
	for i := range n.edges {
		if key.values[n.edges[i].value] == name {
			return n.edges[i].child
		}
	}
	return n.other
}

// A builder makes nodes. One goroutine uses it during one call; the diagrams outlive
// it, its tables do not.
type builder struct {
	*domain
	budget

	unique    map[uint64]*node
	terminals []*node
	nodes     uint32
	boolean   [difference + 1]pairs // memos of and, or, without
	scratch   []edge                // a stack of edge lists under construction
}

func newBuilder(d *domain, limits Limits) *builder {
	return &builder{
		domain: d,
		budget: newBudget(limits),
		unique: make(map[uint64]*node),
	}
}

// terminal returns the terminal with the number.
func (b *builder) terminal(number uint32) *node {
	for len(b.terminals) <= int(number) {
		b.terminals = append(b.terminals, nil)
	}
	if b.terminals[number] == nil {
		b.terminals[number] = &node{key: terminalKey, number: number, id: b.nextID()}
	}
	return b.terminals[number]
}

func (b *builder) truth(t bool) *node {
	if t {
		return b.terminal(1)
	}
	return b.terminal(0)
}

func (b *builder) nextID() uint32 {
	b.nodes++
	return b.nodes
}

// node returns the node with these answers. edges must ascend by value, and none of
// their children may be other. The node retains a copy of them.
func (b *builder) node(key int32, other, absent *node, edges []edge) *node {
	if len(edges) == 0 && other == absent {
		return other
	}
	slot := hashNode(key, other, absent, edges)
	for ; ; slot++ {
		n := b.unique[slot]
		if n == nil {
			break
		}
		if n.key == key && n.other == other && n.absent == absent && slices.Equal(n.edges, edges) {
			return n
		}
	}
	n := &node{key: key, id: b.nextID(), other: other, absent: absent, edges: slices.Clone(edges)}
	b.unique[slot] = n
	return n
}

func hashNode(key int32, other, absent *node, edges []edge) uint64 {
	h := mix(uint64(uint32(key)), uint64(other.id)<<32|uint64(absent.id))
	for _, e := range edges {
		h = mix(h, uint64(e.value)<<32|uint64(e.child.id))
	}
	return h
}

// mix is the finalizer of splitmix64 over both words. It needs no seed, because
// collisions affect only the cost, never a result.
func mix(h, word uint64) uint64 {
	h = (h ^ word) + 0x9e3779b97f4a7c15
	h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9
	h = (h ^ (h >> 27)) * 0x94d049bb133111eb
	return h ^ (h >> 31)
}

// nodeSteps is the cost of a node in addition to its edges: a lookup in two
// tables and perhaps an insertion, about as much as eight edges.
const nodeSteps = 8

// pairs is the memo of a recursion over pairs of nodes.
type pairs map[uint64]*node

// combine returns the diagram whose result is rec(x's answer, y's answer) for each
// client. It splits by the first key that x or y tests; at least one of x and y must
// not be a terminal. A pair in the memo is not combined again.
func (b *builder) combine(memo pairs, x, y *node, rec func(x, y *node) *node) *node {
	pair := uint64(x.id)<<32 | uint64(y.id)
	if n, known := memo[pair]; known {
		return n
	}
	key := min(x.key, y.key)
	xOther, xAbsent, xs := x.branchesOf(key)
	yOther, yAbsent, ys := y.branchesOf(key)
	if !b.spend(nodeSteps + len(xs) + len(ys)) {
		memo[pair] = x
		return x
	}
	other := rec(xOther, yOther)
	absent := other
	if xAbsent != xOther || yAbsent != yOther {
		absent = rec(xAbsent, yAbsent)
	}
	base := len(b.scratch)
	for len(xs) > 0 || len(ys) > 0 {
		value, xChild, yChild := uint32(math.MaxUint32), xOther, yOther
		if len(xs) > 0 {
			value = xs[0].value
		}
		if len(ys) > 0 {
			value = min(value, ys[0].value)
		}
		if len(xs) > 0 && xs[0].value == value {
			xChild, xs = xs[0].child, xs[1:]
		}
		if len(ys) > 0 && ys[0].value == value {
			yChild, ys = ys[0].child, ys[1:]
		}
		if child := rec(xChild, yChild); child != other {
			b.scratch = append(b.scratch, edge{value, child})
		}
	}
	n := b.node(key, other, absent, b.scratch[base:])
	b.scratch = b.scratch[:base]
	memo[pair] = n
	return n
}
