package layered

import "slices"

// rounds is how often vertices move to the middle of their neighbours.
const rounds = 6

// place returns the coordinates.
func (l *layout) place(g *Graph, gaps Gaps) *Picture {
	y := make([]int, len(l.vertices)) // the middle of each vertex
	for _, layer := range l.layers {
		at := 0
		for _, v := range layer {
			y[v] = at + l.vertices[v].height/2
			at += l.vertices[v].height + gaps.Bend
		}
	}
	for round := range rounds {
		for i := range l.layers {
			if round%2 == 0 {
				l.settle(i, y, gaps, func(v *vertex) []int { return v.before })
			} else {
				l.settle(len(l.layers)-1-i, y, gaps, func(v *vertex) []int { return v.after })
			}
		}
	}
	top := 0
	for v := range y {
		top = min(top, y[v]-l.vertices[v].height/2)
	}
	p := &Picture{Nodes: make([]Point, len(g.Nodes)), Edges: make([][]Point, len(g.Edges)), Crossings: l.crossings()}
	x, widths := make([]int, len(l.layers)), make([]int, len(l.layers))
	for i, layer := range l.layers {
		for _, v := range layer {
			if node := l.vertices[v].node; node >= 0 {
				widths[i] = max(widths[i], g.Nodes[node].Width)
			}
			p.Height = max(p.Height, y[v]-top+l.vertices[v].height/2+1)
		}
		if i > 0 {
			x[i] = x[i-1] + widths[i-1] + gaps.Layer
		}
		p.Width = x[i] + widths[i]
	}
	for v := range l.vertices {
		if node := l.vertices[v].node; node >= 0 {
			p.Nodes[node] = Point{x[l.vertices[v].layer], y[v] - top - l.vertices[v].height/2}
		}
	}
	for i, path := range l.paths {
		for j, v := range path {
			layer := l.vertices[v].layer
			left, right := Point{x[layer], y[v] - top}, Point{x[layer] + widths[layer], y[v] - top}
			switch node := l.vertices[v].node; {
			case node < 0:
				p.Edges[i] = append(p.Edges[i], left, right)
			case j == 0:
				p.Edges[i] = append(p.Edges[i], Point{x[layer] + g.Nodes[node].Width, y[v] - top})
			default:
				p.Edges[i] = append(p.Edges[i], left)
			}
		}
		if l.reversed[i] {
			slices.Reverse(p.Edges[i])
		}
	}
	return p
}

// settle moves the vertices of a layer to the middle of their neighbours, without changing
// their order: first as far down as those above force them, then up where there is room.
func (l *layout) settle(i int, y []int, gaps Gaps, neighbours func(*vertex) []int) {
	layer := l.layers[i]
	want := make([]int, len(layer))
	for at, v := range layer {
		want[at] = y[v]
		if near := neighbours(&l.vertices[v]); len(near) > 0 {
			sum := 0
			for _, n := range near {
				sum += y[n]
			}
			want[at] = sum / len(near)
		}
	}
	// apart is the least distance of the middles of two neighbours.
	apart := func(at int) int {
		gap := gaps.Node
		if l.vertices[layer[at]].node < 0 && l.vertices[layer[at+1]].node < 0 {
			gap = gaps.Bend
		}
		return (l.vertices[layer[at]].height+1)/2 + gap + l.vertices[layer[at+1]].height/2
	}
	down, up := make([]int, len(layer)), make([]int, len(layer))
	for at := range layer {
		down[at] = want[at]
		if at > 0 {
			down[at] = max(want[at], down[at-1]+apart(at-1))
		}
	}
	for at := len(layer) - 1; at >= 0; at-- {
		up[at] = want[at]
		if at+1 < len(layer) {
			up[at] = min(want[at], up[at+1]-apart(at))
		}
	}
	for at, v := range layer { // both are valid, so their middle is
		y[v] = (down[at] + up[at]) / 2
		if at > 0 {
			y[v] = max(y[v], y[layer[at-1]]+apart(at-1))
		}
	}
}
