package partition

import "slices"

// A selection is a diagram over some items that maps a client to the items that
// select it. Its terminals are numbers of lists of items, the highest priority first;
// list 0 is empty.
type selection struct {
	root  *node
	items []int32
	lists [][]int32
}

// runs groups the items, from the highest priority down. A run is one item, or
// consecutive items that name the same single key. A thousand items that each name a
// service form one run and are added in one pass. Adding them one by one would copy
// the node of that key a thousand times.
func (b *builder) runs(roots []*node) [][]int32 {
	var runs [][]int32
	last := int32(noKey) // of the last run; noKey: it cannot be extended
	for i := len(roots) - 1; i >= 0; i-- {
		root := roots[i]
		if root == b.truth(false) {
			continue
		}
		key := onlyKey(root)
		extends := len(runs) > 0 && last != noKey &&
			(key == last || key == terminalKey || last == terminalKey && key != noKey)
		if !extends {
			runs = append(runs, []int32{int32(i)})
			last = key
			continue
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], int32(i))
		last = min(last, key)
	}
	return runs
}

const noKey = -1

// onlyKey returns the key of a diagram that tests one key, terminalKey if it
// tests none and noKey if it tests more.
func onlyKey(n *node) int32 {
	if n.isTerminal() {
		return terminalKey
	}
	if !n.other.isTerminal() || !n.absent.isTerminal() {
		return noKey
	}
	for _, e := range n.edges {
		if !e.child.isTerminal() {
			return noKey
		}
	}
	return n.key
}

// selection returns the diagram of a run.
func (b *builder) selection(run []int32, roots []*node) selection {
	if len(run) == 1 {
		return selection{root: roots[run[0]], items: run, lists: [][]int32{nil, run}}
	}
	key := int32(terminalKey)
	for _, item := range run {
		key = min(key, roots[item].key)
	}
	s := selection{items: run, lists: [][]int32{nil}}
	if key == terminalKey {
		s.root = b.list(&s, run)
		return s
	}
	lists := b.listsByValue(key, run, roots)
	other, absent := lists.other, lists.absent
	otherNode := b.list(&s, other)
	absentNode := otherNode
	if !slices.Equal(other, absent) {
		absentNode = b.list(&s, absent)
	}
	var edges []edge
	for value, list := range lists.values {
		if !slices.Equal(list, other) {
			edges = append(edges, edge{uint32(value), b.list(&s, list)})
		}
	}
	s.root = b.node(key, otherNode, absentNode, edges)
	return s
}

// list returns the terminal of a new list.
func (b *builder) list(s *selection, items []int32) *node {
	if len(items) == 0 {
		return b.terminal(0)
	}
	s.lists = append(s.lists, items)
	return b.terminal(uint32(len(s.lists) - 1))
}

// valueLists contains the items of a run that select a client, by the client's
// value for the run's key.
type valueLists struct {
	values        [][]int32 // by number of the value
	other, absent []int32
}

func (b *builder) listsByValue(key int32, run []int32, roots []*node) valueLists {
	yes := b.truth(true)
	l := valueLists{values: make([][]int32, len(b.keys[key].values))}
	for _, item := range run {
		other, absent, edges := roots[item].branchesOf(key)
		if absent == yes {
			l.absent = append(l.absent, item)
		}
		if other != yes {
			if !b.spend(len(edges)) {
				return l
			}
			for _, e := range edges { // edges to true: they differ from other
				l.values[e.value] = append(l.values[e.value], item)
			}
			continue
		}
		if !b.spend(len(l.values)) {
			return l
		}
		l.other = append(l.other, item)
		for value := range l.values {
			if len(edges) > 0 && edges[0].value == uint32(value) {
				edges = edges[1:] // edge to false
				continue
			}
			l.values[value] = append(l.values[value], item)
		}
	}
	return l
}
