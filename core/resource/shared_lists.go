package resource

import (
	"hash/maphash"
	"slices"
)

// sharedLists contains lists of outbounds that dataplanes were decoded with
// lately. Replicas of a workload have equal outbounds, which are most of the
// memory of a dataplane: with ten outbounds 0.8 KB of 1.7 KB. They share one list,
// as decoded resources are not changed. It is for one goroutine at a time.
type sharedLists struct {
	seed      maphash.Seed
	outbounds [1 << sharedBits][]Outbound // each at the slot of its hash
}

const sharedBits = 10

func newSharedLists() *sharedLists { return &sharedLists{seed: maphash.MakeSeed()} }

// keep returns a list that is equal to the given one. An append to it copies it.
func (s *sharedLists) keep(list []Outbound) []Outbound {
	if len(list) == 0 {
		return list
	}
	const prime = 0x9e37_79b9_7f4a_7c15
	hash := uint64(len(list))
	for i := range list {
		hash = (hash ^ uint64(list[i].Port) ^ maphash.String(s.seed, list[i].Address)) * prime
		for _, tag := range list[i].Tags {
			hash = (hash ^ maphash.String(s.seed, tag.Key)) * prime
			hash = (hash ^ maphash.String(s.seed, tag.Value)) * prime
		}
	}
	known := &s.outbounds[hash>>(64-sharedBits)]
	if !slices.EqualFunc(*known, list, sameOutbound) {
		*known = slices.Clip(list)
	}
	return *known
}

func sameOutbound(a, b Outbound) bool {
	return a.Port == b.Port && a.Address == b.Address && (a.Tags == nil) == (b.Tags == nil) && slices.Equal(a.Tags, b.Tags)
}
