package main

import (
	"bytes"
	"image/color"
	"math"
	"os"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// ratioPoints are the ratios with their intervals, one for each line of the picture.
type ratioPoints struct {
	plotter.XYs
	plotter.XErrors
}

// mono is a font with the widths of other fixed-width fonts, which are used if it is not
// installed.
const mono = "Mono"

// drawRatios draws all ratios on a logarithmic axis, the first one at the top. The peers that
// are better are left of 1, in red.
func drawRatios(file string, all []result) error {
	all = slices.DeleteFunc(slices.Clone(all), func(r result) bool { return !r.compared() })
	p := plot.New()
	p.Title.Text = "Peer's time or heap divided by meshmatch's (95 % confidence)"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	low, high := 0.5, 2.0
	names := make([]string, len(all))
	var better, worse ratioPoints
	for i, r := range all {
		line := len(all) - 1 - i
		names[line] = r.comparison.label + " / " + r.peer
		points := &better
		if r.ratio.median < 1 {
			points = &worse
		}
		points.XYs = append(points.XYs, plotter.XY{X: r.ratio.median, Y: float64(line)})
		left, right := 0.0, 0.0
		if r.ratio.bounded() {
			left, right = r.ratio.median-r.ratio.low, r.ratio.high-r.ratio.median
		}
		points.XErrors = append(points.XErrors, struct{ Low, High float64 }{left, right})
		low, high = min(low, r.ratio.median-left), max(high, r.ratio.median+right)
	}
	p.X.Min, p.X.Max = powerOfTen(low, math.Floor), powerOfTen(high, math.Ceil)
	equal, err := plotter.NewLine(plotter.XYs{{X: 1, Y: -0.5}, {X: 1, Y: float64(len(all)) - 0.5}})
	if err != nil {
		return err
	}
	equal.Color = color.Gray{Y: 160}
	p.Add(plotter.NewGrid(), equal)
	for _, side := range []struct {
		points ratioPoints
		color  color.Color
	}{{better, color.RGBA{G: 96, B: 160, A: 255}}, {worse, color.RGBA{R: 200, A: 255}}} {
		if len(side.points.XYs) == 0 {
			continue
		}
		scatter, err := plotter.NewScatter(side.points)
		if err != nil {
			return err
		}
		scatter.GlyphStyle = draw.GlyphStyle{Color: side.color, Radius: vg.Points(2.5), Shape: draw.CircleGlyph{}}
		bars, err := plotter.NewXErrorBars(side.points)
		if err != nil {
			return err
		}
		bars.Color = side.color
		p.Add(scatter, bars)
	}
	if len(names) > 0 {
		p.NominalY(names...)
	}
	p.X.Label.Text = "left of 1, in red: the peer is better; right of 1: meshmatch is"
	for _, style := range []*draw.TextStyle{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label} {
		style.Font.Variant = mono
	}
	canvas := vgsvg.New(28*vg.Centimeter, vg.Length(3+0.6*float64(len(all)))*vg.Centimeter)
	// The margin is for fonts that are a little wider than the one whose widths are known.
	const margin = vg.Length(10)
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	text := bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Mono;"), []byte("font-family:Liberation Mono,monospace;"))
	return os.WriteFile(file, text, 0o644)
}

func powerOfTen(f float64, round func(float64) float64) float64 {
	return math.Pow(10, round(math.Log10(f)))
}
