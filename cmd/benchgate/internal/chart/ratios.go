package chart

import (
	"image/color"
	"io"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Ratio is how the head of a benchmark compares with its base: head / base.
type Ratio struct {
	Name  string
	Ratio float64 // above 0
	// Low and High are the interval that contains the true ratio. High may be infinite.
	// Both are equal to Ratio if the ratio is exact.
	Low, High float64
	Mark      Mark
}

// Mark is what a ratio means.
type Mark int

// The marks, with their shapes.
const (
	Same    Mark = iota // a square
	Better              // a circle
	Worse               // a triangle
	Unclear             // a cross
)

var (
	grey   = color.RGBA{0x59, 0x61, 0x6f, 0xff}
	styles = map[Mark]draw.GlyphStyle{
		Same:    {Color: grey, Radius: vg.Points(3), Shape: draw.BoxGlyph{}},
		Better:  {Color: color.RGBA{0x17, 0x69, 0x3a, 0xff}, Radius: vg.Points(3.5), Shape: draw.CircleGlyph{}},
		Worse:   {Color: color.RGBA{0xa4, 0x23, 0x1f, 0xff}, Radius: vg.Points(4.5), Shape: draw.PyramidGlyph{}},
		Unclear: {Color: color.RGBA{0x7a, 0x52, 0x00, 0xff}, Radius: vg.Points(3.5), Shape: draw.CrossGlyph{}},
	}
)

// The ends of the axis of ratios. What is beyond them is drawn at them.
const (
	leastRatio, mostRatio = 0.01, 100
	// widestInterval is how far an interval may make the axis longer.
	widestInterval = 4
)

// Ratios writes a picture with a row for each ratio, the first one at the top, and a line
// at 1. An interval is a bar.
func Ratios(w io.Writer, title string, list []Ratio) error {
	p := newPlot(title, "head / base: below 1 is less", "")
	p.X.Scale, p.X.Min, p.X.Max = plot.LogScale{}, 0.8, 1.25 // at least
	p.Y.Min, p.Y.Max = -0.5, max(float64(len(list))-0.5, 0.5)
	names := make([]string, len(list))
	for i, r := range list {
		names[len(list)-1-i] = r.Name
		p.X.Min = min(p.X.Min, clamp(r.Ratio), clamp(max(r.Low, 1./widestInterval)))
		p.X.Max = max(p.X.Max, clamp(r.Ratio), clamp(min(r.High, widestInterval)))
	}
	p.X.Min, p.X.Max = p.X.Min/1.02, p.X.Max*1.02
	within := func(ratio float64) float64 { return min(max(ratio, p.X.Min), p.X.Max) }
	p.X.Tick.Marker = plot.ConstantTicks(ratioTicks(p.X.Min, p.X.Max))
	if len(names) > 0 {
		p.NominalY(names...)
	} else {
		p.HideY()
	}
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.5}, {X: 1, Y: p.Y.Max}})
	if err != nil {
		return err
	}
	one.Color = grey
	p.Add(one)
	for i, r := range list {
		y := float64(len(list) - 1 - i)
		at := plotter.XYs{{X: within(r.Ratio), Y: y}}
		if r.Low < r.High {
			bar, err := plotter.NewLine(plotter.XYs{{X: within(r.Low), Y: y}, {X: within(r.High), Y: y}})
			if err != nil {
				return err
			}
			bar.Color, bar.Width = styles[r.Mark].Color, vg.Points(1.5)
			p.Add(bar)
		}
		point, err := plotter.NewScatter(at)
		if err != nil {
			return err
		}
		point.GlyphStyle = styles[r.Mark]
		p.Add(point)
	}
	canvas := vgsvg.New(9*vg.Inch, vg.Length(len(list))*0.24*vg.Inch+1.4*vg.Inch)
	p.Draw(inner(canvas))
	return write(w, canvas)
}

func clamp(ratio float64) float64 { return min(max(ratio, leastRatio), mostRatio) }

// ratioTicks returns round ratios between two.
func ratioTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for _, v := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 20, 50, 100} {
		if v >= low && v <= high {
			ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
		}
	}
	return ticks
}
