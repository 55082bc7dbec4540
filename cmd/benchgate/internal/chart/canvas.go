package chart

import (
	"bytes"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// fixed makes texts have a font with a fixed width. A picture has places for its texts that
// fit in any such font, whether or not the reader has the one that they were measured with.
func fixed(fonts ...*font.Font) {
	for _, f := range fonts {
		f.Variant = "Mono"
	}
}

// newPlot returns a plot with a title and the names of its axes.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = vg.Points(6)
	fixed(&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font)
	p.X.Tick.Label.Font.Size, p.Y.Tick.Label.Font.Size = vg.Points(9), vg.Points(9)
	return p
}

// margin is around a picture.
const margin = 8 * vg.Length(1)

// inner returns a canvas without its margin.
func inner(c *vgsvg.Canvas) draw.Canvas {
	return draw.Crop(draw.New(c), margin, -margin, margin, -margin)
}

// write writes a picture as SVG. Its font falls back to any monospace font of the reader.
// Nothing is written if the canvas fails.
func write(w io.Writer, c *vgsvg.Canvas) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Mono;"), []byte("font-family:Liberation Mono,monospace;")))
	return err
}
