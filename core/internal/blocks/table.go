package blocks

import (
	"hash/maphash"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Table contains the blocks of a mesh. A result is computed once for the same
// inputs, including the versions of policies. It is one pointer for as long as
// there is a reference to it. It is safe for concurrent use.
//
// There are two types of blocks:
//
//   - A merged conf, identified by its section, origins and content ([items.Memo]).
//   - The configuration of an inbound, identified by the ordered list of the
//     policies that select it and have rules or `from` items.
//
// Views, snapshots and the writer of a mesh refer to blocks. A block to which nothing refers
// is freed.
type Table struct {
	semantics semantics.Semantics
	memo      *items.Memo
	seed      maphash.Seed
	inbounds  sync.Map // *hashtable.Weak[inboundBlock] by *resource.Kind
}

// NewTable returns a table without blocks of inbounds. The semantics determine how policies
// are read; the memo contains the merged confs.
func NewTable(s semantics.Semantics, memo *items.Memo) *Table {
	return &Table{semantics: s, memo: memo, seed: maphash.MakeSeed()}
}

// Memo returns the merged confs of the table.
func (t *Table) Memo() *items.Memo { return t.memo }

func (t *Table) inboundsOf(kind *resource.Kind) *hashtable.Weak[inboundBlock] {
	known, ok := t.inbounds.Load(kind)
	if !ok {
		known, _ = t.inbounds.LoadOrStore(kind, new(hashtable.Weak[inboundBlock]))
	}
	return known.(*hashtable.Weak[inboundBlock])
}
