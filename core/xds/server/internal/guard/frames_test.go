package guard

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"golang.org/x/net/http2"
)

// The count for random frames that arrive in random pieces equals the count of a reference for
// whole frames: for each stream the bytes after its last complete message.
func TestFrames(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var wire bytes.Buffer
		wire.WriteString(http2.ClientPreface)
		framer := http2.NewFramer(&wire, nil)
		framer.AllowIllegalWrites = true
		var f frames
		sent := map[uint32][]byte{}
		for range 1 + r.IntN(60) {
			id := uint32(1 + 2*r.IntN(4))
			ends := r.IntN(8) == 0
			switch r.IntN(6) {
			case 0:
				_ = framer.WritePing(false, [8]byte{1})
			case 1:
				_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: []byte("headers"), EndHeaders: true, EndStream: ends})
				if ends {
					delete(sent, id)
				}
			case 2:
				_ = framer.WriteRSTStream(id, http2.ErrCodeCancel)
				delete(sent, id)
			default:
				data := randomData(r, len(sent[id]) > 0 && r.IntN(2) == 0)
				if padding := r.IntN(3); padding > 0 {
					_ = framer.WriteDataPadded(id, ends, data, make([]byte, r.IntN(200)))
				} else {
					_ = framer.WriteData(id, ends, data)
				}
				sent[id] = append(sent[id], data...)
				if ends {
					delete(sent, id)
				}
			}
			for wire.Len() > 0 && r.IntN(4) > 0 {
				f.read(wire.Next(1 + r.IntN(40)))
			}
		}
		grown := f.read(wire.Bytes())
		if before := f.size - grown; before < 0 {
			t.Errorf("seed %d: %d bytes were counted", seed, before)
		}
		want := 0
		for _, data := range sent {
			want += partOf(data)
		}
		if f.size != want {
			t.Errorf("seed %d: %d bytes are counted, want %d", seed, f.size, want)
		}
	}
}

// randomData returns some messages, the last of which may be incomplete, or bytes that
// continue one.
func randomData(r *rand.Rand, goesOn bool) (data []byte) {
	if goesOn {
		return make([]byte, r.IntN(20))
	}
	for range r.IntN(3) {
		n := r.IntN(20)
		data = append(data, append([]byte{0, 0, 0, 0, byte(n)}, make([]byte, n)...)...)
	}
	switch r.IntN(4) {
	case 0:
		data = append(data, 0, 0, 1) // of a prefix
	case 1:
		data = append(data, 0, 0, 1, 0, 0, 1, 2, 3) // of 64 KiB
	case 2:
		data = append(data, 0, 0xff, 0, 0, 0, 1, 2, 3) // past the limit
	}
	return data
}

// partOf returns what is charged for the data of a stream.
func partOf(data []byte) int {
	for len(data) >= messagePrefix {
		length := int(data[1])<<24 | int(data[2])<<16 | int(data[3])<<8 | int(data[4])
		if len(data) < messagePrefix+length {
			if length > MaxRequestBytes {
				return partialBytes
			}
			return partialBytes + len(data) - messagePrefix
		}
		data = data[messagePrefix+length:]
	}
	if len(data) > 0 {
		return partialBytes
	}
	return 0
}
