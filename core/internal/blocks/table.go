package blocks

import (
	"hash/maphash"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Table contains the blocks of a mesh. A result is computed once for the same
// inputs, including the versions of policies. It is one pointer for as long as
// there is a reference to it. It is safe for concurrent use.
//
// There are two types of blocks:
//
//   - A merged conf, identified by its section, origins and content. However
//     many items select an outbound, the few that set a leaf identify the
//     result. If an item can hide others without setting a leaf
//     ([resource.ConfType]), the content decides.
//   - The configuration of an inbound, identified by the ordered list of the
//     policies that select it and have rules or `from` items.
//
// References are held by a [ClassConfig], for a class of dataplanes, and by the
// configs of an [OutboundEvaluator], for the dataplanes that also have the same
// outbounds.
type Table struct {
	semantics semantics.Semantics
	seed      maphash.Seed

	mu       sync.Mutex // held around table operations, never around merging
	confs    refTable[results.Effective]
	inbounds refTable[inboundBlock]
}

// NewTable returns an empty table. The semantics determine how policies are read.
func NewTable(s semantics.Semantics) *Table {
	return &Table{
		semantics: s,
		seed:      maphash.MakeSeed(),
		confs:     newRefTable[results.Effective](),
		inbounds:  newRefTable[inboundBlock](),
	}
}

// Len returns the number of blocks with references.
func (t *Table) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.confs.of) + len(t.inbounds.of)
}

func (t *Table) hashPolicy(hash uint64, p *resource.Policy, index int) uint64 {
	const prime = 0x9e37_79b9_7f4a_7c15
	for _, h := range [...]uint64{maphash.String(t.seed, p.Name), maphash.String(t.seed, p.Namespace), uint64(index)} {
		hash = (hash ^ h) * prime
		hash ^= hash >> 31
	}
	return hash
}
