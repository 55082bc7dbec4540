package streams

import (
	"encoding/binary"
	"io"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/meshmatch/meshmatch/core/internal/xds/fields"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A response is what a client keeps of a DeltaDiscoveryResponse.
type response struct {
	url, nonce string
	resources  []holding
	removed    []uint64 // keys
	bytes      int
}

// SumOf returns the hash of all resources of a snapshot.
func SumOf(s *wire.Snapshot) (sum uint64) {
	var body []byte
	for t := range s {
		for _, r := range s[t].Listed {
			body = r.Append(body[:0])
			sum += holding{keyOf(r.Type.URL(), []byte(r.Name)), xxhash.Sum64(body)}.hash()
		}
	}
	return sum
}

// hash returns a hash of a resource. Those of several resources are added.
func (h holding) hash() uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], h.key)
	binary.LittleEndian.PutUint64(b[8:], h.content)
	return xxhash.Sum64(b[:])
}

func keyOf(url string, name []byte) uint64 {
	d := xxhash.NewWithSeed(uint64(len(url)))
	_, _ = d.WriteString(url)
	_, _ = d.Write(name)
	return d.Sum64()
}

var receiving = codec{encoding.GetCodecV2(proto.Name)}

// codec hashes resources where gRPC has them, without a copy of each.
type codec struct{ encoding.CodecV2 }

// Unmarshal implements encoding.CodecV2.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	text := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer text.Free()
	return v.(*response).decode(text.ReadOnlyData())
}

// The numbers of fields of DeltaDiscoveryResponse, its Resource, and Any.
const (
	responseResources, responseTypeURL, responseNonce, responseRemoved = 2, 4, 5, 6

	resourceBody, resourceName = 2, 3

	anyValue = 2
)

func (r *response) decode(b []byte) error {
	r.bytes = len(b)
	// The type comes after the resources, and is in their keys.
	if err := fields.Each(b, io.ErrUnexpectedEOF, func(number protowire.Number, value []byte) error {
		switch number {
		case responseTypeURL:
			if t, ok := wire.TypeOf(string(value)); ok {
				r.url = t.URL()
			} else {
				r.url = string(value)
			}
		case responseNonce:
			r.nonce = string(value)
		}
		return nil
	}); err != nil {
		return err
	}
	return fields.Each(b, io.ErrUnexpectedEOF, func(number protowire.Number, value []byte) error {
		switch number {
		case responseRemoved:
			r.removed = append(r.removed, keyOf(r.url, value))
		case responseResources:
			var name, body []byte
			if err := fields.Each(value, io.ErrUnexpectedEOF, func(number protowire.Number, value []byte) error {
				switch number {
				case resourceName:
					name = value
				case resourceBody:
					return fields.Each(value, io.ErrUnexpectedEOF, func(number protowire.Number, value []byte) error {
						if number == anyValue {
							body = value
						}
						return nil
					})
				}
				return nil
			}); err != nil {
				return err
			}
			r.resources = append(r.resources, holding{keyOf(r.url, name), xxhash.Sum64(body)})
		}
		return nil
	})
}
