package naive

import (
	"sort"
	"strconv"
	"strings"
)

// isEmpty reports whether a node is present but empty. Such a node is a leaf, because
// it is part of the output and needs an origin. SPEC 6 has this rule for objects; a
// list that is concatenated or merged by key is treated in the same way.
func (n *node) isEmpty() bool {
	return n.shape != leaf && !n.always && len(n.fields)+len(n.elems) == 0
}

// eachLeaf calls visit for every leaf of SPEC 6 below a node, with the JSON
// pointer of the leaf and the item that set it.
func (n *node) eachLeaf(pointer string, visit func(pointer string, item int)) {
	if n.isEmpty() {
		visit(pointer, n.item)
	}
	switch n.shape {
	case leaf:
		visit(pointer, n.item)
	case object, union, mapping:
		for name, field := range n.fields {
			if n.shape == mapping {
				visit(pointer+"/"+escapePointer(name), field.lastOrigin())
				continue
			}
			field.eachLeaf(pointer+"/"+escapePointer(name), visit)
		}
	case appended, keyed:
		for i, elem := range n.elems {
			visit(pointer+"/"+strconv.Itoa(i), elem.lastOrigin())
		}
	}
}

// eachOrigin calls visit for every item that set a leaf below a node. An element merged
// by key, and an entry of a map, have all items as origins that set a part which is not
// overridden.
func (n *node) eachOrigin(visit func(item int)) {
	if n.isEmpty() {
		visit(n.item)
	}
	switch n.shape {
	case leaf:
		visit(n.item)
	case object, union, mapping:
		for _, field := range n.fields {
			field.eachOrigin(visit)
		}
	case appended, keyed:
		for _, elem := range n.elems {
			elem.eachOrigin(visit)
		}
	}
}

// lastOrigin returns the last item that set a part of an element or entry or, if
// no part is set, the last item that has it.
func (n *node) lastOrigin() int {
	items := n.origins()
	if len(items) == 0 {
		return n.item
	}
	return items[len(items)-1]
}

// origins returns the items that set a leaf, each once, lowest priority first.
func (n *node) origins() []int {
	seen := map[int]bool{}
	items := []int{}
	n.eachOrigin(func(item int) {
		if !seen[item] {
			seen[item] = true
			items = append(items, item)
		}
	})
	sort.Ints(items)
	return items
}

// leaves returns the item of every leaf by its JSON pointer.
func (n *node) leaves() map[string]int {
	items := map[string]int{}
	n.eachLeaf("", func(pointer string, item int) { items[pointer] = item })
	return items
}

func escapePointer(name string) string {
	name = strings.ReplaceAll(name, "~", "~0")
	return strings.ReplaceAll(name, "/", "~1")
}
