package layered

// backEdges reports, for each edge, whether it is reversed: it leads back to a node from
// which a search in the order of the nodes came.
func backEdges(g *Graph) []bool {
	const (
		fresh = iota
		open
		closed
	)
	out := make([][]int, len(g.Nodes)) // edges
	degree := make([]int, len(g.Nodes))
	for i, e := range g.Edges {
		out[e.From] = append(out[e.From], i)
		if e.From != e.To {
			degree[e.To]++
		}
	}
	reversed := make([]bool, len(g.Edges))
	state := make([]int, len(g.Nodes))
	var visit func(int)
	visit = func(node int) {
		state[node] = open
		for _, i := range out[node] {
			switch to := g.Edges[i].To; state[to] {
			case fresh:
				visit(to)
			case open:
				reversed[i] = to != node
			}
		}
		state[node] = closed
	}
	for node := range g.Nodes { // those that nothing leads to first
		if degree[node] == 0 {
			visit(node)
		}
	}
	for node := range g.Nodes {
		if state[node] == fresh {
			visit(node)
		}
	}
	return reversed
}

// layersOf returns the layer of each node: the longest path that leads to it.
func layersOf(g *Graph, reversed []bool) []int {
	in := make([][]int, len(g.Nodes)) // nodes
	for i, e := range g.Edges {
		switch {
		case e.From == e.To:
		case reversed[i]:
			in[e.From] = append(in[e.From], e.To)
		default:
			in[e.To] = append(in[e.To], e.From)
		}
	}
	layers := make([]int, len(g.Nodes))
	known := make([]bool, len(g.Nodes))
	var layer func(int) int
	layer = func(node int) int {
		if !known[node] {
			known[node] = true
			for _, from := range in[node] {
				layers[node] = max(layers[node], layer(from)+1)
			}
		}
		return layers[node]
	}
	for node := range g.Nodes {
		layer(node)
	}
	return layers
}
