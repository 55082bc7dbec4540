package match

import "github.com/meshmatch/meshmatch/index"

// postings is an inverted index from keys to sets of ids. It belongs to one
// writer and is never published, so it is changed in place: adding an id costs
// its keys, whereas a published set would have to be copied first.
//
// Most keys of a mesh, such as the name of a dataplane and the tag of its
// service, have one id. Those take a map entry and no set.
type postings struct {
	one  map[uint64]uint32
	many map[uint64]*index.SetEditor
}

func newPostings() postings {
	return postings{one: map[uint64]uint32{}, many: map[uint64]*index.SetEditor{}}
}

// add adds id to the set of key.
func (p *postings) add(key uint64, id uint32) {
	if set := p.many[key]; set != nil {
		set.Add(id)
		return
	}
	other, found := p.one[key]
	if !found {
		p.one[key] = id
		return
	}
	if other == id {
		return
	}
	set := new(index.SetEditor)
	set.Add(other)
	set.Add(id)
	p.many[key] = set
	delete(p.one, key)
}

// remove removes id from the set of key, if it is an element.
func (p *postings) remove(key uint64, id uint32) {
	if set := p.many[key]; set != nil {
		if set.Remove(id); set.Len() == 0 {
			delete(p.many, key)
		}
		return
	}
	if p.one[key] == id { // deleting a missing key changes nothing
		delete(p.one, key)
	}
}

func (p *postings) count(key uint64) int {
	if set := p.many[key]; set != nil {
		return set.Len()
	}
	if _, found := p.one[key]; found {
		return 1
	}
	return 0
}

// appendTo appends the ids of key, ascending.
func (p *postings) appendTo(key uint64, dst []uint32) []uint32 {
	if set := p.many[key]; set != nil {
		return set.AppendTo(dst)
	}
	if id, found := p.one[key]; found {
		dst = append(dst, id)
	}
	return dst
}
