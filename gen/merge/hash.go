package merge

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
)

// HashWord writes a number to a digest.
func HashWord(d *xxhash.Digest, x uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], x)
	_, _ = d.Write(b[:])
}

// HashString writes a text with its length to a digest.
func HashString(d *xxhash.Digest, x string) {
	HashWord(d, uint64(len(x)))
	_, _ = d.WriteString(x)
}

// HashBool writes a truth value to a digest.
func HashBool(d *xxhash.Digest, x bool) {
	if x {
		HashWord(d, 1)
	} else {
		HashWord(d, 0)
	}
}

// HashFloat writes a number to a digest; -0 equals 0.
func HashFloat(d *xxhash.Digest, x float64) {
	if x == 0 {
		x = 0
	}
	HashWord(d, math.Float64bits(x))
}
