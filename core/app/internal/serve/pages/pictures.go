package pages

import "strconv"

// bar is a horizontal bar of shares, in units of barWidth. SVG needs no style in the text
// of the page, which the Content-Security-Policy forbids.
type bar struct {
	Width, Height int
	Parts         []barPart
}

type barPart struct {
	X, Width int
	Class    string
}

const (
	barWidth  = 400
	barHeight = 12
)

// newBar returns a bar for numbers that are shares of a total: class, number, ... A share
// that is not 0 is visible.
func newBar(total int, pairs ...any) bar {
	b := bar{Width: barWidth, Height: barHeight}
	x := 0
	for i := 0; i+1 < len(pairs); i += 2 {
		class, _ := pairs[i].(string)
		n, _ := pairs[i+1].(int)
		if n <= 0 || total <= 0 {
			continue
		}
		width := min(max(3, n*barWidth/total), barWidth-x)
		b.Parts = append(b.Parts, barPart{x, width, class})
		x += width
	}
	return b
}

// position returns where a value is on an axis of a length.
func position(value, of int64, length int) int { return int(value * int64(length) / max(of, 1)) }

func point(x, y int) string { return strconv.Itoa(x) + "," + strconv.Itoa(y) }
