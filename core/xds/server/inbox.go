package server

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/fields"
)

// An inbox takes a request from gRPC. It holds the encoded bytes, which are weighed before
// they are decoded: an element of two bytes may take a hundred bytes in memory, and a
// request may have millions of them.
type inbox struct {
	data    mem.BufferSlice
	message proto.Message // given without bytes, by a stream in memory
}

// put is called by the codec.
func (in *inbox) put(data mem.BufferSlice) {
	data.Ref()
	in.data = data
}

// join makes the encoded bytes one buffer.
func (in *inbox) join() {
	buffer := in.data.MaterializeToBuffer(mem.DefaultBufferPool())
	in.data.Free()
	in.data = mem.BufferSlice{buffer}
}

// drop forgets the request.
func (in *inbox) drop() {
	in.data.Free()
	in.data, in.message = nil, nil
}

// decode decodes the request, which must have been weighed.
func decode[R any, M interface {
	*R
	proto.Message
}](in *inbox) (M, error) {
	if in.message != nil {
		return in.message.(M), nil
	}
	buffer := in.data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	r := M(new(R))
	if err := proto.Unmarshal(buffer.ReadOnlyData(), r); err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "the request cannot be decoded: %v", err)
	}
	return r, nil
}

// Limits on the parts of a request (SPEC 12.3).
const (
	maxIDBytes    = 1 << 10 // node ids, names, types, nonces, keys and values
	maxNodeBytes  = 1 << 20
	maxErrorBytes = 4 << 20
)

// The fields of requests, by number.
type fieldKind uint8

const (
	otherField fieldKind = iota
	idField
	nodeField
	errorField
	nameField
	versionField // an entry of initial_resource_versions
	locatorField
)

var requestFields = [numProtocols][10]fieldKind{
	delta: {1: nodeField, 2: idField, 3: nameField, 4: nameField, 5: versionField,
		6: idField, 7: errorField, 8: locatorField, 9: locatorField},
	stateOfTheWorld: {1: idField, 2: nodeField, 3: nameField, 4: idField, 5: idField, 6: errorField, 7: locatorField},
}

const (
	locatorName       = 1
	locatorParameters = 2
	entryKey          = 1
	entryValue        = 2
)

// A scale weighs a request: it walks over the fields of the encoded message, allocates
// nothing, and stops at the first limit that is exceeded.
type scale struct {
	names         int // limit of each repeated field
	parameters    int // limit of each locator
	bytes         int // about what the decoded request takes in memory
	counts        [10]int
	nodes, errors int // bytes
}

// weigh checks the limits on a request.
func (s *scale) weigh(b []byte, p protocol) error {
	s.bytes = len(b)
	return fields.Each(b, errEncoding, func(number protowire.Number, value []byte) error {
		if int(number) >= len(s.counts) {
			return nil
		}
		switch kind := requestFields[p][number]; kind {
		case idField:
			return checkID("a text", value)
		case nodeField:
			s.bytes += 30 * len(value) // many small values
			if s.nodes += len(value); s.nodes > maxNodeBytes {
				return status.Errorf(codes.InvalidArgument, "the node has more than %d bytes", maxNodeBytes)
			}
		case errorField:
			s.bytes += 8 * len(value) // usually one text
			if s.errors += len(value); s.errors > maxErrorBytes {
				return status.Errorf(codes.InvalidArgument, "error_detail has more than %d bytes", maxErrorBytes)
			}
		case nameField, versionField, locatorField:
			if s.counts[number]++; s.counts[number] > s.names {
				return status.Errorf(codes.ResourceExhausted, "the request has more than %d elements in one list", s.names)
			}
			return s.element(kind, value)
		}
		return nil
	})
}

// element weighs an element of a list.
func (s *scale) element(kind fieldKind, value []byte) error {
	switch kind {
	case nameField:
		s.bytes += nameBytes
		return checkID("a name", value)
	case versionField:
		s.bytes += nameBytes + parameterBytes
		return checkEntry(value)
	}
	s.bytes += locatorBytes
	parameters := 0
	return fields.Each(value, errEncoding, func(number protowire.Number, value []byte) error {
		switch number {
		case locatorName:
			return checkID("a name", value)
		case locatorParameters:
			s.bytes += parameterBytes
			if parameters++; parameters > s.parameters {
				return status.Errorf(codes.ResourceExhausted, "a locator has more than %d dynamic parameters", s.parameters)
			}
			return checkEntry(value)
		}
		return nil
	})
}

// checkEntry checks the key and the value of an entry of a map.
func checkEntry(entry []byte) error {
	return fields.Each(entry, errEncoding, func(number protowire.Number, value []byte) error {
		if number == entryKey || number == entryValue {
			return checkID("a key or a value", value)
		}
		return nil
	})
}

func checkID(what string, value []byte) error {
	if len(value) > maxIDBytes {
		return status.Errorf(codes.InvalidArgument, "%s of the request has %d bytes, the limit is %d", what, len(value), maxIDBytes)
	}
	return nil
}

var errEncoding = status.Error(codes.InvalidArgument, "the request is not a protobuf message")
