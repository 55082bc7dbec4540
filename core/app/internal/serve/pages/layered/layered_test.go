package layered_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages/layered"
)

var gaps = layered.Gaps{Node: 14, Bend: 6, Layer: 80}

// random returns a graph of n nodes with m edges.
func random(seed uint64, n, m int) *layered.Graph {
	r := rand.New(rand.NewPCG(seed, 1))
	g := &layered.Graph{}
	for range n {
		g.Nodes = append(g.Nodes, layered.Size{Width: 40 + r.IntN(60), Height: 26})
	}
	for range m {
		g.Edges = append(g.Edges, layered.Edge{From: r.IntN(n), To: r.IntN(n)})
	}
	return g
}

// TestArrange checks random graphs, with cycles, edges of a node to itself and several edges
// between two nodes: no two nodes are closer than the gaps, everything is within the picture,
// and each edge leads from its first node to its second one.
func TestArrange(t *testing.T) {
	for seed := range uint64(200) {
		n := 1 + int(seed)%40
		g := random(seed, n, 2*n)
		p := layered.Arrange(g, gaps)
		for i, a := range p.Nodes {
			if a.X < 0 || a.Y < 0 || a.X+g.Nodes[i].Width > p.Width || a.Y+g.Nodes[i].Height > p.Height {
				t.Errorf("seed %d: node %d is at %v of %d x %d", seed, i, a, p.Width, p.Height)
			}
			for j := i + 1; j < len(p.Nodes); j++ {
				b := p.Nodes[j]
				if a.X < b.X+g.Nodes[j].Width && b.X < a.X+g.Nodes[i].Width && a.Y < b.Y+g.Nodes[j].Height+gaps.Node && b.Y < a.Y+g.Nodes[i].Height+gaps.Node {
					t.Errorf("seed %d: nodes %d at %v and %d at %v are too close", seed, i, a, j, b)
				}
			}
		}
		for i, e := range g.Edges {
			points := p.Edges[i]
			if e.From == e.To {
				if len(points) != 0 {
					t.Errorf("seed %d: the edge of node %d to itself has points", seed, e.From)
				}
				continue
			}
			if len(points) < 2 {
				t.Fatalf("seed %d: edge %d has %d points", seed, i, len(points))
			}
			first, last := points[0], points[len(points)-1]
			if !touches(g, p, e.From, first) || !touches(g, p, e.To, last) {
				t.Errorf("seed %d: edge %d of %v leads from %v to %v", seed, i, e, first, last)
			}
			for _, at := range points {
				if at.X < 0 || at.X > p.Width || at.Y < 0 || at.Y > p.Height {
					t.Errorf("seed %d: edge %d passes through %v", seed, i, at)
				}
			}
		}
		if again := layered.Arrange(g, gaps); !reflect.DeepEqual(p, again) {
			t.Errorf("seed %d: the same graph has another picture", seed)
		}
	}
}

// touches reports whether a point is at the left or the right side of a node.
func touches(g *layered.Graph, p *layered.Picture, node int, at layered.Point) bool {
	n := p.Nodes[node]
	return at.Y >= n.Y && at.Y <= n.Y+g.Nodes[node].Height && (at.X == n.X || at.X == n.X+g.Nodes[node].Width)
}

// TestCrossings draws graphs that have a picture without crossings without any.
func TestCrossings(t *testing.T) {
	size := layered.Size{Width: 40, Height: 26}
	for name, edges := range map[string][]layered.Edge{
		"a tree":           {{0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}},
		"a star":           {{0, 6}, {1, 6}, {2, 6}, {3, 6}, {4, 6}, {5, 6}},
		"crossed at first": {{0, 4}, {1, 3}, {2, 5}},
		"a long edge":      {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {0, 3}},
	} {
		g := &layered.Graph{Nodes: []layered.Size{size, size, size, size, size, size, size}, Edges: edges}
		if p := layered.Arrange(g, gaps); p.Crossings != 0 {
			t.Errorf("%s has %d crossings", name, p.Crossings)
		}
	}
}

// TestSharedBends draws the edges of a node to distant layers as one line until they part.
func TestSharedBends(t *testing.T) {
	g := &layered.Graph{}
	const n = 12
	for i := range n {
		g.Nodes = append(g.Nodes, layered.Size{Width: 40, Height: 26})
		if i > 0 {
			g.Edges = append(g.Edges, layered.Edge{From: i - 1, To: i}, layered.Edge{From: 0, To: i})
		}
	}
	p := layered.Arrange(g, gaps)
	longest := p.Edges[len(g.Edges)-1]
	for i, e := range g.Edges {
		if points := p.Edges[i]; e.From == 0 && !reflect.DeepEqual(points[:len(points)-1], longest[:len(points)-1]) {
			t.Errorf("the edge to %d passes %v, that to %d passes %v", e.To, points, n-1, longest)
		}
	}
	if p := layered.Arrange(&layered.Graph{}, gaps); p.Width != 0 || p.Height != 0 {
		t.Errorf("an empty graph is %d x %d", p.Width, p.Height)
	}
}
