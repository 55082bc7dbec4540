package naive

import "maps"

// json returns the node as JSON.
func (n *node) json() any {
	switch n.shape {
	case object, union, mapping:
		tree := map[string]any{}
		maps.Copy(tree, n.unset)
		for name, field := range n.fields {
			if !field.hides || !field.isZero() {
				tree[name] = field.json()
			}
		}
		return tree
	case appended, keyed:
		list := []any{}
		for _, elem := range n.elems {
			list = append(list, elem.json())
		}
		return list
	}
	return n.value
}

// isZero reports whether a set field has the zero value of its Go type: a zero
// scalar, or a struct by value that contains only zero scalars.
func (n *node) isZero() bool {
	if n.shape == leaf {
		return n.zero
	}
	if !n.always {
		return false
	}
	for _, field := range n.fields {
		if !field.isZero() {
			return false
		}
	}
	return true
}
