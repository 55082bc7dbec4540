package strict

import (
	"slices"
	"sync"
)

// rooms contains the memory of the parts of large documents that were released, each a
// *[]part. A long list has more bytes of parts than of resources, and a garbage collection
// frees what no load has used since the previous one.
var rooms sync.Pool

func keepRoom(parts []part) { rooms.Put(&parts) }

// withRoom returns an empty slice for n parts: the given one if it is large enough.
func withRoom(parts []part, n int) []part {
	if n >= minTaken && cap(parts) < n {
		if known, _ := rooms.Get().(*[]part); known != nil && cap(*known) >= n {
			return (*known)[:0]
		}
	}
	return slices.Grow(parts[:0], n)
}
