package rules

import (
	"hash/maphash"
	"sync"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Blocks shares the confs of all dataplanes of a mesh: what has the same
// inputs, policy versions included, is made once and is one pointer
// everywhere, for as long as somebody holds a reference to it. It is safe for
// concurrent use.
//
// There are two types of blocks. A merged conf is known by its section, its
// origins and its content: however many items select a thing, the few that set
// a leaf identify the result, but for confs in which an item can hide others
// ([resource.ConfType]), for which the content is compared. What an inbound does
// with requests is known by the policies that say something about it, in order.
//
// Their holders are a [Part], for a class of dataplanes, and the [Config]s of
// an [OutboundPart], for dataplanes that also have the same outbounds.
type Blocks struct {
	seed maphash.Seed

	mu       sync.Mutex // only around table operations, never around merging
	confs    blockTable[Effective]
	inbounds blockTable[inboundBlock]
}

// NewBlocks returns a table without blocks.
func NewBlocks() *Blocks {
	return &Blocks{
		seed:     maphash.MakeSeed(),
		confs:    newBlockTable[Effective](),
		inbounds: newBlockTable[inboundBlock](),
	}
}

// Len returns the number of blocks that are referenced.
func (b *Blocks) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.confs.of) + len(b.inbounds.of)
}

func (b *Blocks) hashPolicy(hash uint64, p *resource.Policy, index int) uint64 {
	const prime = 0x9e37_79b9_7f4a_7c15
	for _, h := range [...]uint64{maphash.String(b.seed, p.Name), maphash.String(b.seed, p.Namespace), uint64(index)} {
		hash = (hash ^ h) * prime
		hash ^= hash >> 31
	}
	return hash
}
