package guard

import "encoding/binary"

// partialBytes is charged for a partial request in addition to its bytes: about what the
// server keeps to count it.
const partialBytes = 128

// frames reads the HTTP/2 frames of a client (RFC 9113), as far as needed to count the
// bytes of incomplete messages (length-prefixed messages of gRPC). A stream that the server
// has ended counts until its client ends it too. They also add up what frames cost (see pace).
type frames struct {
	preface int // bytes of the client's preface that have come
	header  [frameHeader]byte
	filled  int // bytes of header
	left    int // bytes of the frame after the header
	data    int // bytes of data among these; -1: the length of the padding comes first
	partial map[uint32]*partial
	size    int // of all partial messages
	cost    int // of the frames that have begun, beyond their bytes
}

// A partial is a message that has arrived in part.
type partial struct {
	prefix [messagePrefix]byte
	filled int // bytes of prefix
	left   int // bytes of the message that are to come
	size   int // of those that have come
}

const (
	clientPreface = 24 // RFC 9113, 3.4
	frameHeader   = 9
	messagePrefix = 5

	dataFrame         = 0
	headersFrame      = 1
	resetFrame        = 3
	settingsFrame     = 4
	continuationFrame = 9

	settingBytes = 6

	endStream = 0x1
	padded    = 0x8
)

// read reads the next bytes, and returns by how much the partial messages have grown.
func (f *frames) read(b []byte) int {
	before := f.size
	if n := min(clientPreface-f.preface, len(b)); n > 0 {
		f.preface += n
		b = b[n:]
	}
	for len(b) > 0 {
		if f.filled < frameHeader {
			n := copy(f.header[f.filled:], b)
			f.filled += n
			b = b[n:]
			if f.filled < frameHeader {
				break
			}
			f.begin()
		}
		n := min(f.left, len(b))
		f.payload(b[:n])
		f.left -= n
		b = b[n:]
		if f.left == 0 {
			f.end()
		}
	}
	return f.size - before
}

func (f *frames) kind() byte     { return f.header[3] }
func (f *frames) flags() byte    { return f.header[4] }
func (f *frames) stream() uint32 { return binary.BigEndian.Uint32(f.header[5:]) &^ (1 << 31) }

// begin is called with the header of a frame.
func (f *frames) begin() {
	f.left = int(f.header[0])<<16 | int(f.header[1])<<8 | int(f.header[2])
	f.data = 0
	f.cost += frameCost
	switch f.kind() {
	case dataFrame:
		if f.data = f.left; f.flags()&padded != 0 {
			f.data = -1
		}
	case headersFrame, continuationFrame:
		f.cost += headerFactor * f.left
	case settingsFrame:
		f.cost += settingCost * (f.left / settingBytes)
	}
}

// payload is called with more bytes of a frame.
func (f *frames) payload(b []byte) {
	if f.data < 0 && len(b) > 0 {
		f.data = max(0, f.left-1-int(b[0]))
		b = b[1:]
	}
	if n := min(f.data, len(b)); n > 0 {
		f.data -= n
		f.message(b[:n])
	}
}

// end is called at the end of a frame.
func (f *frames) end() {
	f.filled = 0
	if f.kind() == resetFrame || f.kind() <= headersFrame && f.flags()&endStream != 0 {
		if p := f.partial[f.stream()]; p != nil {
			f.size -= partialBytes + p.size
			delete(f.partial, f.stream())
		}
	}
}

// message is called with more data of a stream.
func (f *frames) message(b []byte) {
	id := f.stream()
	p := f.partial[id]
	if p == nil {
		p = new(partial)
	} else {
		f.size -= partialBytes + p.size
	}
	for len(b) > 0 {
		n := 0
		if p.filled < messagePrefix {
			n = copy(p.prefix[p.filled:], b)
			if p.filled += n; p.filled == messagePrefix {
				p.left = int(binary.BigEndian.Uint32(p.prefix[1:]))
			}
		} else {
			n = min(p.left, len(b))
			p.left -= n
			if length := binary.BigEndian.Uint32(p.prefix[1:]); length <= MaxRequestBytes { // gRPC keeps nothing of a longer one
				p.size += n
			}
		}
		b = b[n:]
		if p.filled == messagePrefix && p.left == 0 {
			*p = partial{}
		}
	}
	if p.filled == 0 {
		delete(f.partial, id)
		return
	}
	if f.partial == nil {
		f.partial = map[uint32]*partial{}
	}
	f.partial[id] = p
	f.size += partialBytes + p.size
}
