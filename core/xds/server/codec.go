package server

import (
	"encoding/binary"
	"encoding/hex"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// A nonce is the identifier of a stream and the number of a response, in
// hexadecimal with a hyphen between them. So nonces of two streams differ, and no
// nonce is a version.
const nonceLength = 8 + 1 + 8

type nonce [nonceLength]byte

func newNonce(stream, number uint32) (n nonce) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], stream)
	hex.Encode(n[:8], b[:])
	n[8] = '-'
	binary.BigEndian.PutUint32(b[:], number)
	hex.Encode(n[9:], b[:])
	return n
}

// A response is a shared body and the nonce of one stream. It has room for the list of both
// that gRPC gets, so that a response is one allocation.
type response struct {
	body   *body
	since  *generation // the change that caused it, nil if a request did
	suffix [2 + nonceLength]byte
	nonce  mem.SliceBuffer // of suffix
	parts  [2]mem.Buffer
}

func newResponse(b *body, n nonce, since *generation) *response {
	r := &response{body: b, since: since}
	r.suffix[0] = responseNonce<<3 | 2
	r.suffix[1] = nonceLength
	copy(r.suffix[2:], n[:])
	r.nonce = r.suffix[:]
	return r
}

// buffers returns the encoded response. It is called once, and gRPC owns the result.
func (r *response) buffers() mem.BufferSlice {
	r.parts = [...]mem.Buffer{r.body.encoded(), &r.nonce}
	return r.parts[:]
}

// codec marshals a response without a copy of its body: a protobuf message is the
// concatenation of its fields. It puts a request into an inbox as it is. All other
// messages are marshalled as by default.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	if r, ok := v.(*response); ok {
		return r.buffers(), nil
	}
	return c.CodecV2.Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if in, ok := v.(*inbox); ok {
		in.put(data)
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}
