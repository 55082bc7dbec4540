package match

import "github.com/meshmatch/meshmatch/index"

// holders tells which ids have a key. It belongs to one writer and is never
// published, so it is changed in place: an id that comes costs its keys, where
// a published set would have to be copied first.
//
// Most keys of a mesh, such as the name of a dataplane and the tag of its
// service, have one holder. Those take a map's entry and no set.
type holders struct {
	one  map[uint64]uint32
	many map[uint64]*index.SetEditor
}

func newHolders() holders {
	return holders{one: map[uint64]uint32{}, many: map[uint64]*index.SetEditor{}}
}

// add makes id a holder of key; it may be one already.
func (h *holders) add(key uint64, id uint32) {
	if set := h.many[key]; set != nil {
		set.Add(id)
		return
	}
	other, held := h.one[key]
	if !held {
		h.one[key] = id
		return
	}
	if other == id {
		return
	}
	set := new(index.SetEditor)
	set.Add(other)
	set.Add(id)
	h.many[key] = set
	delete(h.one, key)
}

// remove undoes add. A key keeps its set until the last holder is gone.
func (h *holders) remove(key uint64, id uint32) {
	if set := h.many[key]; set != nil {
		if set.Remove(id); set.Len() == 0 {
			delete(h.many, key)
		}
		return
	}
	if h.one[key] == id { // or there is none, and none to delete
		delete(h.one, key)
	}
}

func (h *holders) count(key uint64) int {
	if set := h.many[key]; set != nil {
		return set.Len()
	}
	if _, held := h.one[key]; held {
		return 1
	}
	return 0
}

// appendTo appends the holders of key, ascending.
func (h *holders) appendTo(key uint64, dst []uint32) []uint32 {
	if set := h.many[key]; set != nil {
		return set.AppendTo(dst)
	}
	if id, held := h.one[key]; held {
		dst = append(dst, id)
	}
	return dst
}
