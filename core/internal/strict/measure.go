package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/diag"
)

// measurer checks YAML documents against the limits. It counts nodes and bytes as if
// every alias were expanded.
type measurer struct {
	limits  Limits
	added   extent // what aliases added, in all documents so far
	anchors map[*yaml.Node]extent
}

// maxAliased is the limit of the text that the aliases of a chunk add: an alias of two bytes may
// expand to a long text.
const maxAliased = 4 << 20

// extent is the size of a tree with its aliases expanded.
type extent struct {
	nodes, height int
	bytes         int  // of its names and values
	open          bool // it is still being measured
}

type excess struct {
	node       *yaml.Node
	code       diag.Code
	what, hint string
}

func tooLarge(n *yaml.Node, format string, limit int) *excess {
	return &excess{n, diag.InputTooLarge, fmt.Sprintf(format, limit), "split the document"}
}

func (m *measurer) document(root *yaml.Node) *excess {
	m.anchors = nil
	_, bad := m.measure(root, 1)
	return bad
}

func (m *measurer) measure(n *yaml.Node, depth int) (extent, *excess) {
	size := extent{nodes: 1, height: 1, bytes: len(n.Value)}
	if n.Kind == yaml.AliasNode {
		size = m.anchors[n.Alias] // an anchor precedes its aliases
		if size.open {
			return size, &excess{n, diag.UnsupportedYAML, fmt.Sprintf("the anchor %q contains itself", n.Value), "write the value out"}
		}
		if m.added.nodes += size.nodes; m.added.nodes > m.limits.Nodes {
			return size, tooLarge(n, "aliases add more than %d values", m.limits.Nodes)
		}
		if m.added.bytes += size.bytes; m.added.bytes > maxAliased {
			return size, tooLarge(n, "aliases add more than %d MiB of text", maxAliased>>20)
		}
	}
	if depth+size.height-1 > m.limits.Depth {
		return size, tooLarge(n, "nested deeper than %d levels", m.limits.Depth)
	}
	if n.Anchor != "" {
		if m.anchors == nil {
			m.anchors = map[*yaml.Node]extent{}
		}
		m.anchors[n] = extent{open: true}
	}
	for _, c := range n.Content {
		inner, bad := m.measure(c, depth+1)
		if bad != nil {
			return size, bad
		}
		size.height = max(size.height, inner.height+1)
		size.bytes += inner.bytes
		if size.nodes += inner.nodes; size.nodes > m.limits.Nodes {
			return size, tooLarge(n, "has more than %d values, with aliases written out", m.limits.Nodes)
		}
	}
	if n.Anchor != "" {
		m.anchors[n] = size
	}
	return size, nil
}
