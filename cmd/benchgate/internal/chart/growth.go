package chart

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Series is the cost of one thing at different sizes.
type Series struct {
	Name   string
	Points []Point // in ascending order of sizes
}

// A Point is a cost in seconds at a size. Both are above 0.
type Point struct{ Size, Seconds float64 }

// sizes returns the sizes of all series, each once, in ascending order.
func sizes(list []Series) []float64 {
	var all []float64
	for _, s := range list {
		for _, p := range s.Points {
			all = append(all, p.Size)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// powers returns the powers of ten around two values.
func powers(low, high float64) (from, to int) {
	return int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
}

// Growth writes a picture of the cost of each series against the size, which x names. The
// legend is to the right, in the order of the largest costs.
func Growth(w io.Writer, title, x string, list []Series) error {
	p := newPlot(title, x, "time")
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	legend := plot.NewLegend()
	fixed(&legend.TextStyle.Font)
	legend.TextStyle.Font.Size = vg.Points(9)
	legend.Top, legend.Left, legend.Padding = true, true, vg.Points(4)
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Series) int { return -cmp.Compare(last(a), last(b)) })
	least, most := math.Inf(1), 0.
	for i, s := range list {
		points := make(plotter.XYs, len(s.Points))
		for j, at := range s.Points {
			if at.Size <= 0 || at.Seconds <= 0 {
				return fmt.Errorf("%s: a cost of %g s at the size %g has no place on logarithmic axes", s.Name, at.Seconds, at.Size)
			}
			points[j] = plotter.XY{X: at.Size, Y: at.Seconds}
			least, most = min(least, at.Seconds), max(most, at.Seconds)
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		line.Color, line.Dashes, line.Width = plotutil.Color(i), plotutil.Dashes(i), vg.Points(1.2)
		dots.Color, dots.Shape, dots.Radius = plotutil.Color(i), plotutil.Shape(i), vg.Points(3)
		p.Add(line, dots)
		legend.Add(s.Name, line, dots)
	}
	all := sizes(list)
	if len(all) == 0 {
		return fmt.Errorf("there is nothing to draw")
	}
	p.X.Min, p.X.Max = all[0]/1.3, all[len(all)-1]*1.3
	var ticks plot.ConstantTicks
	for _, size := range all {
		ticks = append(ticks, plot.Tick{Value: size, Label: strconv.FormatFloat(size, 'f', -1, 64)})
	}
	p.X.Tick.Marker = ticks
	from, to := powers(least, most)
	p.Y.Min, p.Y.Max = math.Pow10(from), math.Pow10(max(to, from+1))
	p.Y.Tick.Marker = timeTicks(from, max(to, from+1))
	longest := 0
	for _, s := range list {
		longest = max(longest, utf8.RuneCountInString(s.Name))
	}
	key := vg.Inch + vg.Length(longest)*legend.TextStyle.Font.Size*0.6 // the width of a character
	width := 6.5*vg.Inch + key
	height := max(5*vg.Inch, vg.Length(len(list))*0.27*vg.Inch+vg.Inch)
	canvas := vgsvg.New(width, height)
	whole := inner(canvas)
	p.Draw(draw.Crop(whole, 0, -key, 0, 0))
	legend.Draw(draw.Crop(whole, width-key, 0, 0, -0.4*vg.Inch))
	return write(w, canvas)
}

// last returns the cost at the largest size.
func last(s Series) float64 {
	if len(s.Points) == 0 {
		return 0
	}
	return s.Points[len(s.Points)-1].Seconds
}

// timeTicks returns a tick with a label for each power of ten of seconds, and one without
// for each multiple.
func timeTicks(from, to int) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for power := from; power <= to; power++ {
		at := math.Pow10(power)
		ticks = append(ticks, plot.Tick{Value: at, Label: time.Duration(math.Round(at * float64(time.Second))).String()})
		for multiple := 2.; multiple < 10 && power < to; multiple++ {
			ticks = append(ticks, plot.Tick{Value: at * multiple})
		}
	}
	return ticks
}
