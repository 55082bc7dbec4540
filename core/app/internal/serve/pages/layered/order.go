package layered

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// order puts the vertices of each layer in an order with few crossings. It keeps the best
// order of all sweeps.
func (l *layout) order() {
	best, least := l.copyLayers(), l.crossings()
	for sweep := range sweeps {
		if least == 0 {
			break
		}
		if sweep%2 == 0 {
			for i := 1; i < len(l.layers); i++ {
				l.sortLayer(i, func(v *vertex) []int { return v.before })
			}
		} else {
			for i := len(l.layers) - 2; i >= 0; i-- {
				l.sortLayer(i, func(v *vertex) []int { return v.after })
			}
		}
		l.swap()
		if n := l.crossings(); n < least {
			best, least = l.copyLayers(), n
		}
	}
	for i := range best {
		l.setLayer(i, best[i])
	}
}

func (l *layout) copyLayers() [][]int {
	return lists.Map(l.layers, slices.Clone[[]int])
}

func (l *layout) setLayer(i int, order []int) {
	l.layers[i] = order
	for at, v := range order {
		l.vertices[v].at = at
	}
}

// sortLayer sorts a layer by the medians of the neighbours' places. A vertex without
// neighbours keeps its place among the others as well as possible.
func (l *layout) sortLayer(i int, neighbours func(*vertex) []int) {
	median := map[int]float64{}
	for at, v := range l.layers[i] {
		median[v] = float64(at)
		if places := l.placesOf(neighbours(&l.vertices[v])); len(places) > 0 {
			middle := len(places) / 2
			median[v] = float64(places[middle])
			if len(places)%2 == 0 {
				median[v] = (median[v] + float64(places[middle-1])) / 2
			}
		}
	}
	order := slices.Clone(l.layers[i])
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(median[a], median[b]) })
	l.setLayer(i, order)
}

// placesOf returns the sorted places of vertices in their layer.
func (l *layout) placesOf(vertices []int) []int {
	places := make([]int, len(vertices))
	for i, v := range vertices {
		places[i] = l.vertices[v].at
	}
	slices.Sort(places)
	return places
}

// swap swaps neighbours of a layer where that removes crossings.
func (l *layout) swap() {
	for i := range l.layers {
		layer := l.layers[i]
		for at := 0; at+1 < len(layer); at++ {
			a, b := &l.vertices[layer[at]], &l.vertices[layer[at+1]]
			now := l.crossed(a.before, b.before) + l.crossed(a.after, b.after)
			swapped := l.crossed(b.before, a.before) + l.crossed(b.after, a.after)
			if swapped < now {
				a.at, b.at = b.at, a.at
				layer[at], layer[at+1] = layer[at+1], layer[at]
			}
		}
	}
}

// crossed returns the number of crossings between the edges of two vertices of a layer, of
// which the first is above, to the same side.
func (l *layout) crossed(above, below []int) int {
	if len(above) == 0 || len(below) == 0 {
		return 0
	}
	a, b := l.placesOf(above), l.placesOf(below)
	n, smaller := 0, 0
	for _, at := range a {
		for smaller < len(b) && b[smaller] < at {
			smaller++
		}
		n += smaller
	}
	return n
}

// crossings returns the number of crossings between neighbouring layers. It counts, for the
// edges in the order of their first ends, those before with a later second end.
func (l *layout) crossings() int {
	n := 0
	for i := 0; i+1 < len(l.layers); i++ {
		tree := make([]int, len(l.layers[i+1])+1) // of the numbers of second ends
		seen := 0
		for _, v := range l.layers[i] {
			places := l.placesOf(l.vertices[v].after)
			for _, at := range places {
				notAfter := 0
				for j := at + 1; j > 0; j -= j & -j {
					notAfter += tree[j]
				}
				n += seen - notAfter
			}
			for _, at := range places {
				for j := at + 1; j < len(tree); j += j & -j {
					tree[j]++
				}
				seen++
			}
		}
	}
	return n
}
