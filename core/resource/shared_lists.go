package resource

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// sharedLists contains the outbound lists of recently decoded dataplanes. Replicas
// of a workload have equal outbounds, which take much of the memory of a
// dataplane: with ten outbounds, 0.8 KB of 1.7 KB. Decoded resources are
// immutable, so replicas share one list. It is for one goroutine at a time.
//
// In JSON and in YAML's block style, such lists usually also have the same text. Decoding each
// list takes a third of the time to decode dataplanes with ten equal outbounds.
type sharedLists struct {
	seed      maphash.Seed
	outbounds [1 << sharedBits][]Outbound // each at the slot of its hash
	texts     [1 << textBits]decodedList  // each at the slot of the hash of its text
}

// decodedList is a list with its text.
type decodedList struct {
	text   []byte
	list   []Outbound
	latest uint64 // the hash of the latest other text
}

const (
	sharedBits = 10
	textBits   = 8
	// maxListText is the length of the longest text that is kept.
	maxListText = 64 << 10
)

func newSharedLists() *sharedLists { return &sharedLists{seed: maphash.MakeSeed()} }

// decoded returns the list that was decoded from a text, or nil.
func (s *sharedLists) decoded(text []byte) []Outbound {
	if known, _ := s.textSlot(text); len(text) > 0 && bytes.Equal(known.text, text) {
		return known.list
	}
	return nil
}

// remember keeps a copy of the text of a list when it is decoded for the second time. Copies
// of texts that are all different took a tenth of the memory that decoding allocated. The
// list must have no errors and no warnings.
func (s *sharedLists) remember(text []byte, list []Outbound) {
	if len(text) == 0 || len(text) > maxListText {
		return
	}
	slot, hash := s.textSlot(text)
	if slot.latest != hash {
		slot.latest = hash
		return
	}
	slot.text, slot.list = append(slot.text[:0], text...), list
}

func (s *sharedLists) textSlot(text []byte) (slot *decodedList, hash uint64) {
	hash = maphash.Bytes(s.seed, text)
	return &s.texts[hash>>(64-textBits)], hash
}

// keep returns a shared list that equals the given one. An append to it copies
// it. The keys of tags are few, and not in the hash.
func (s *sharedLists) keep(list []Outbound) []Outbound {
	if len(list) == 0 {
		return list
	}
	const prime = 0x9e37_79b9_7f4a_7c15
	hash := uint64(len(list))
	for i := range list {
		hash = (hash ^ uint64(list[i].Port) ^ maphash.String(s.seed, list[i].Address)) * prime
		for _, tag := range list[i].Tags {
			hash = (hash ^ maphash.String(s.seed, tag.Value)) * prime
		}
		if backend := list[i].Backend; backend != nil {
			hash = (hash ^ maphash.String(s.seed, backend.Name) ^ uint64(backend.Kind)) * prime
		}
	}
	known := &s.outbounds[hash>>(64-sharedBits)]
	if !slices.EqualFunc(*known, list, sameOutbound) {
		*known = slices.Clip(list)
	}
	return *known
}

func sameOutbound(a, b Outbound) bool {
	return a.Port == b.Port && a.Address == b.Address && a.Backend.Equal(b.Backend) && (a.Tags == nil) == (b.Tags == nil) && slices.Equal(a.Tags, b.Tags)
}
