package layered

// A Graph is what is drawn. Nodes are numbered from 0.
type Graph struct {
	Nodes []Size
	Edges []Edge
}

// Size is the size of a node.
type Size struct{ Width, Height int }

// Edge is an edge between two nodes.
type Edge struct{ From, To int }

// Gaps are the distances between nodes of a layer, between bends of a layer, and between
// layers.
type Gaps struct{ Node, Bend, Layer int }

// Picture is where nodes and edges are.
type Picture struct {
	Width, Height int
	Nodes         []Point // the top left corner of each node
	// Edges are the points through which the edges pass, from the right side of the first
	// node to the left side of the second one. A reversed edge leads from left to right
	// from its second node to its first one; its points are in its own direction.
	Edges [][]Point
	// Crossings is the number of crossings of edges between neighbouring layers.
	Crossings int
}

// Point is a place in a picture. Y grows downwards.
type Point struct{ X, Y int }

// sweeps is how often the order of layers is improved in both directions.
const sweeps = 8

// Arrange returns the picture of a graph. Edges of a node to itself have no points.
func Arrange(g *Graph, gaps Gaps) *Picture {
	if len(g.Nodes) == 0 {
		return &Picture{}
	}
	l := newLayout(g)
	l.order()
	return l.place(g, gaps)
}

// vertex is a node, or a bend of edges.
type vertex struct {
	layer, at int // at is the index in the layer
	node      int // -1: a bend
	height    int
	before    []int // vertices of the previous layer, and of the next one
	after     []int
}

type layout struct {
	vertices []vertex
	layers   [][]int
	paths    [][]int // the vertices of each edge, in the direction of layers
	reversed []bool
}

func newLayout(g *Graph) *layout {
	l := &layout{reversed: backEdges(g), paths: make([][]int, len(g.Edges))}
	layers := layersOf(g, l.reversed)
	for node, layer := range layers {
		l.add(vertex{layer: layer, node: node, height: g.Nodes[node].Height})
	}
	// Edges of a node share their bends: they are one line until they part.
	bends := map[[2]int]int{} // by the node and the layer
	joined := map[[2]int]bool{}
	for i, e := range g.Edges {
		if e.From == e.To {
			continue
		}
		if l.reversed[i] {
			e.From, e.To = e.To, e.From
		}
		path := []int{e.From}
		for layer := layers[e.From] + 1; layer < layers[e.To]; layer++ {
			at := [2]int{e.From, layer}
			bend, known := bends[at]
			if !known {
				bend = l.add(vertex{layer: layer, node: -1})
				bends[at] = bend
			}
			path = append(path, bend)
		}
		path = append(path, e.To)
		for j := 1; j < len(path); j++ {
			if part := [2]int{path[j-1], path[j]}; joined[part] {
				continue
			} else {
				joined[part] = true
			}
			l.vertices[path[j-1]].after = append(l.vertices[path[j-1]].after, path[j])
			l.vertices[path[j]].before = append(l.vertices[path[j]].before, path[j-1])
		}
		l.paths[i] = path
	}
	return l
}

// add adds a vertex to the end of its layer, and returns its number.
func (l *layout) add(v vertex) int {
	for len(l.layers) <= v.layer {
		l.layers = append(l.layers, nil)
	}
	v.at = len(l.layers[v.layer])
	l.vertices = append(l.vertices, v)
	number := len(l.vertices) - 1
	l.layers[v.layer] = append(l.layers[v.layer], number)
	return number
}
