package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/cmd/benchgate/internal/chart"
)

func newGrowth() *cobra.Command {
	var by, title string
	c := withHelp("growth", &cobra.Command{
		Args: cobra.MaximumNArgs(1),
	})
	c.Flags().StringVar(&by, "by", "dataplanes", "the key of the size in the names of the benchmarks")
	c.Flags().StringVar(&title, "title", "least time", "the title of the picture")
	c.RunE = func(c *cobra.Command, args []string) error {
		in := c.InOrStdin()
		if len(args) > 0 && args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return failure{err}
			}
			defer file.Close()
			in = file
		}
		list, err := readGrowth(in, by)
		if err != nil {
			return failure{err}
		}
		if err := chart.Growth(c.OutOrStdout(), title, by, list); err != nil {
			return failure{err}
		}
		return nil
	}
	return c
}

var benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-[0-9]+)?\s+[0-9]+\s+([0-9.e+]+) ns/op`)

// readGrowth returns the least time of each benchmark at each size. The name of a series is
// that of its benchmark from the size on.
func readGrowth(in io.Reader, by string) ([]chart.Series, error) {
	least := map[string]map[float64]float64{}
	var names []string
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		line := benchmarkLine.FindStringSubmatch(lines.Text())
		if line == nil {
			continue
		}
		_, rest, has := strings.Cut(line[1], "/"+by+"=")
		if !has {
			continue
		}
		text, name, _ := strings.Cut(rest, "/")
		size, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %s is not a number", line[1], by)
		}
		nanoseconds, err := strconv.ParseFloat(line[2], 64)
		if err != nil || nanoseconds <= 0 {
			continue // not measured
		}
		if least[name] == nil {
			least[name], names = map[float64]float64{}, append(names, name)
		}
		if old, has := least[name][size]; !has || nanoseconds/1e9 < old {
			least[name][size] = nanoseconds / 1e9
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	var list []chart.Series
	for _, name := range names {
		series := chart.Series{Name: name}
		for size, seconds := range least[name] {
			series.Points = append(series.Points, chart.Point{Size: size, Seconds: seconds})
		}
		slices.SortFunc(series.Points, func(a, b chart.Point) int { return int(a.Size - b.Size) })
		list = append(list, series)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no benchmark has a time and %s=NUMBER in its name", by)
	}
	return list, nil
}
