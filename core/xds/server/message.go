package server

import (
	"hash/maphash"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A protocol is one of the two of ADS.
type protocol uint8

const (
	delta protocol = iota
	stateOfTheWorld
	numProtocols = iota
)

// String returns delta or sotw.
func (p protocol) String() string {
	if p == delta {
		return "delta"
	}
	return "sotw"
}

// A message is the content of a response, without its nonce. Equal messages have
// the same bytes on all streams.
type message struct {
	protocol  protocol
	url       string
	version   string // state of the world only
	resources []*wire.Resource
	variants  []wire.Variant
	// removed and removedVariants are in delta only. Of a removed variant without
	// constraints the name alone is sent.
	removed         []string
	removedVariants []removedVariant
	failures        []failure
}

// A removedVariant identifies a variant. Without constraints it is the only variant of
// the name, or means that no variant of the name exists for a client.
type removedVariant struct {
	name        string
	constraints string
}

// A failure is an element of resource_errors.
type failure struct {
	name string
	code codes.Code
	text string
}

// reset empties a message and keeps its memory.
func (m *message) reset(p protocol, url string) {
	clear(m.resources)
	clear(m.variants)
	*m = message{
		protocol: p, url: url,
		resources: m.resources[:0], variants: m.variants[:0],
		removed: m.removed[:0], removedVariants: m.removedVariants[:0], failures: m.failures[:0],
	}
}

// clone returns a copy that shares no slice.
func (m *message) clone() message {
	c := *m
	c.resources, c.variants = slices.Clone(m.resources), slices.Clone(m.variants)
	c.removed, c.removedVariants = slices.Clone(m.removed), slices.Clone(m.removedVariants)
	c.failures = slices.Clone(m.failures)
	return c
}

// equal reports whether two messages have the same bytes.
func (m *message) equal(o *message) bool {
	return m.protocol == o.protocol && m.url == o.url && m.version == o.version &&
		slices.Equal(m.resources, o.resources) && slices.Equal(m.variants, o.variants) &&
		slices.Equal(m.removed, o.removed) && slices.Equal(m.removedVariants, o.removedVariants) &&
		slices.Equal(m.failures, o.failures)
}

var seed = maphash.MakeSeed()

// hash returns a hash that is the same for equal messages in this process.
func (m *message) hash() uint64 {
	h := uint64(m.protocol) + 1
	add := func(x uint64) { h = (h ^ x) * 0x9e3779b97f4a7c15; h ^= h >> 29 }
	add(maphash.String(seed, m.url))
	add(maphash.String(seed, m.version))
	for _, r := range m.resources {
		add(maphash.Comparable(seed, r))
	}
	for _, v := range m.variants {
		add(maphash.Comparable(seed, v.Resource))
		add(maphash.String(seed, v.Constraints))
	}
	for _, name := range m.removed {
		add(maphash.String(seed, name))
	}
	for _, r := range m.removedVariants {
		add(maphash.String(seed, r.name))
		add(maphash.String(seed, r.constraints))
	}
	for _, f := range m.failures {
		add(maphash.String(seed, f.name))
		add(maphash.String(seed, f.text))
	}
	return h
}
