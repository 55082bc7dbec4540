package server

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The field numbers of the messages of envoy.service.discovery.v3. The bodies of
// responses are written by hand: a resource is copied once, from its marshalled
// message, into a body that many streams share.
const (
	responseVersion  = 1 // version_info, state of the world only
	responseElements = 2 // resources
	responseTypeURL  = 4
	responseNonce    = 5
	deltaRemoved     = 6 // removed_resources
	sotwErrors       = 7 // resource_errors
	deltaRemovedName = 8 // removed_resource_names
	deltaErrors      = 9 // resource_errors

	wrapperVersion      = 1
	wrapperResource     = 2
	wrapperName         = 3
	wrapperResourceName = 8

	resourceNameName        = 1
	resourceNameConstraints = 2

	anyTypeURL = 1
	anyValue   = 2

	errorResourceName = 1
	errorDetail       = 2
	statusCode        = 1
	statusMessage     = 2
)

const wrapperURL = "type.googleapis.com/envoy.service.discovery.v3.Resource"

// tag is the size of the tags of all fields above: their numbers are below 16.
const tag = 1

// bytes marshals the message. The fields of a message may be in any order, so the
// nonce can follow (see codec).
func (m *message) bytes() []byte {
	b := make([]byte, 0, m.size())
	if m.version != "" {
		b = appendString(b, responseVersion, m.version)
	}
	for _, r := range m.resources {
		if m.protocol == delta {
			b = appendWrapper(appendPrefix(b, responseElements, wrapperSize(r, wire.Variant{})), r, wire.Variant{})
		} else {
			b = appendAny(b, responseElements, r)
		}
	}
	for _, v := range m.variants {
		size := wrapperSize(v.Resource, v)
		if m.protocol == stateOfTheWorld {
			b = appendPrefix(b, responseElements, anySize(len(wrapperURL), size))
			b = appendString(b, anyTypeURL, wrapperURL)
			b = appendPrefix(b, anyValue, size)
		} else {
			b = appendPrefix(b, responseElements, size)
		}
		b = appendWrapper(b, v.Resource, v)
	}
	b = appendString(b, responseTypeURL, m.url)
	for _, name := range m.removed {
		b = appendString(b, deltaRemoved, name)
	}
	for _, r := range m.removedVariants {
		b = appendPrefix(b, deltaRemovedName, resourceNameSize(r.name, r.constraints))
		b = appendResourceName(b, r.name, r.constraints)
	}
	errors := protowire.Number(deltaErrors)
	if m.protocol == stateOfTheWorld {
		errors = sotwErrors
	}
	for _, f := range m.failures {
		name, detail := resourceNameSize(f.name, ""), statusSize(f)
		b = appendPrefix(b, errors, field(name)+field(detail))
		b = appendPrefix(b, errorResourceName, name)
		b = appendResourceName(b, f.name, "")
		b = appendPrefix(b, errorDetail, detail)
		b = protowire.AppendTag(b, statusCode, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(f.code))
		b = appendString(b, statusMessage, f.text)
	}
	return b
}

// size returns the number of bytes of the message.
func (m *message) size() int {
	n := field(len(m.url))
	if m.version != "" {
		n += field(len(m.version))
	}
	for _, r := range m.resources {
		n += elementSize(m.protocol, r)
	}
	for _, v := range m.variants {
		n += variantSize(m.protocol, v)
	}
	for _, name := range m.removed {
		n += field(len(name))
	}
	for _, r := range m.removedVariants {
		n += field(resourceNameSize(r.name, r.constraints))
	}
	for _, f := range m.failures {
		n += failureSize(f)
	}
	return n
}

// elementSize returns the number of bytes that a resource adds to a response.
func elementSize(p protocol, r *wire.Resource) int {
	if p == delta {
		return field(wrapperSize(r, wire.Variant{}))
	}
	return field(anySize(len(r.Type.URL()), r.Size()))
}

// variantSize is elementSize for a variant.
func variantSize(p protocol, v wire.Variant) int {
	size := wrapperSize(v.Resource, v)
	if p == stateOfTheWorld {
		size = anySize(len(wrapperURL), size)
	}
	return field(size)
}

// field returns the size of a field of so many bytes, with its tag and length.
func field(n int) int { return tag + protowire.SizeBytes(n) }

func anySize(url, value int) int { return field(url) + field(value) }

func resourceNameSize(name, constraints string) int {
	n := field(len(name))
	if constraints != "" {
		n += field(len(constraints))
	}
	return n
}

// failureSize returns the number of bytes that an error adds to a response.
func failureSize(f failure) int {
	return field(field(resourceNameSize(f.name, "")) + field(statusSize(f)))
}

func statusSize(f failure) int {
	return tag + protowire.SizeVarint(uint64(f.code)) + field(len(f.text))
}

// wrapperSize returns the size of a resource in its wrapper. The zero variant means
// that the resource is served by name.
func wrapperSize(r *wire.Resource, v wire.Variant) int {
	n := field(anySize(len(r.Type.URL()), r.Size()))
	if v.Resource == nil {
		return n + field(len(r.Version)) + field(len(r.Name))
	}
	return n + field(variantVersionSize(v)) + field(resourceNameSize(r.Name, v.Constraints))
}

func appendWrapper(b []byte, r *wire.Resource, v wire.Variant) []byte {
	version := r.Version
	if v.Resource != nil {
		version = variantVersion(v)
	}
	b = appendString(b, wrapperVersion, version)
	b = appendAny(b, wrapperResource, r)
	if v.Resource == nil {
		return appendString(b, wrapperName, r.Name)
	}
	b = appendPrefix(b, wrapperResourceName, resourceNameSize(r.Name, v.Constraints))
	return appendResourceName(b, r.Name, v.Constraints)
}

// appendAny appends a field that is a resource as google.protobuf.Any.
func appendAny(b []byte, number protowire.Number, r *wire.Resource) []byte {
	url, size := r.Type.URL(), r.Size()
	b = appendPrefix(b, number, anySize(len(url), size))
	b = appendString(b, anyTypeURL, url)
	return r.Append(appendPrefix(b, anyValue, size))
}

func appendResourceName(b []byte, name, constraints string) []byte {
	b = appendString(b, resourceNameName, name)
	if constraints != "" {
		b = appendString(b, resourceNameConstraints, constraints)
	}
	return b
}

func appendString(b []byte, number protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), s)
}

// appendPrefix appends the tag and the length of a field.
func appendPrefix(b []byte, number protowire.Number, size int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.BytesType), uint64(size))
}
