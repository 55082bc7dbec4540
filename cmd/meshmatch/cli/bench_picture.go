package cli

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/bench/chart"
	worldbench "github.com/meshmatch/meshmatch/bench/world"
)

// worldPicture writes the least times of worlds as a picture. The legend has the slopes.
func worldPicture(w io.Writer, a *benchAnswer) error {
	var list []chart.Series
	add := func(name string, size int, least time.Duration) {
		if least <= 0 {
			return // not measured
		}
		at := slices.IndexFunc(list, func(s chart.Series) bool { return s.Name == name })
		if at < 0 {
			at, list = len(list), append(list, chart.Series{Name: name})
		}
		list[at].Points = append(list[at].Points, chart.Point{Size: float64(size), Seconds: least.Seconds()})
	}
	worlds := slices.SortedStableFunc(slices.Values(a.Worlds), func(a, b *worldbench.Report) int { return a.Sizes.Dataplanes - b.Sizes.Dataplanes })
	for _, r := range worlds {
		n := r.Sizes.Dataplanes
		add("load files", n, r.Load)
		add("cold build", n, r.Build)
		add("read", n, r.Read)
		add("cold read", n, r.ReadCold)
		for _, row := range r.Changes {
			add(row.Change, n, row.Least)
		}
	}
	for i := range list {
		for _, s := range a.Slopes {
			if s.Change == list[i].Name {
				list[i].Name += fmt.Sprintf(", slope %.2f", s.Slope)
			}
		}
	}
	return chart.Growth(w, fmt.Sprintf("%s: least time with %d policies", worlds[0].Shape, worlds[0].Sizes.Policies), "dataplanes", list)
}
