package matched

import "slices"

// InboundSet is a set of a dataplane's inbounds by index. It takes two words
// and allocates only for inbounds from 64 on. The zero set is empty.
type InboundSet struct {
	first uint64
	rest  *[]uint64 // inbounds from 64 on, or nil; never changed once it is shared
}

// Add adds inbound i to the set.
func (s *InboundSet) Add(i int) {
	if i < 64 {
		s.first |= 1 << i
		return
	}
	if s.rest == nil {
		s.rest = new([]uint64)
	}
	for len(*s.rest) < i/64 {
		*s.rest = append(*s.rest, 0)
	}
	(*s.rest)[i/64-1] |= 1 << (i % 64)
}

// Has reports whether inbound i is in the set.
func (s *InboundSet) Has(i int) bool {
	if i < 64 {
		return s.first&(1<<i) != 0
	}
	more := s.more()
	return i/64 <= len(more) && more[i/64-1]&(1<<(i%64)) != 0
}

// equal reports whether both sets have the same inbounds.
func (s *InboundSet) equal(o *InboundSet) bool {
	return s.first == o.first && slices.Equal(s.more(), o.more())
}

func (s *InboundSet) more() []uint64 {
	if s.rest == nil {
		return nil
	}
	return *s.rest
}
