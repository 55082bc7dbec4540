package match

import "github.com/meshmatch/meshmatch/index"

// postings is an inverted index from keys to sets of ids below 2^31. It belongs
// to one writer and is never published, so it is changed in place. A published
// set would have to be copied before each change.
//
// Most keys of a mesh, such as the name of a dataplane and the tag of its
// service, have one id. Such a key takes a map entry and no set.
type postings struct {
	byKey map[uint64]posting
	sets  []index.SetEditor // of the keys with several ids
	free  []posting         // sets that are not in use
}

// posting is the only id of a key, or isSet with the index of the key's set.
type posting uint32

const isSet posting = 1 << 31

func newPostings() postings { return postings{byKey: map[uint64]posting{}} }

// set returns the set of a posting, or nil if the posting is a single id.
func (p *postings) set(of posting) *index.SetEditor {
	if of&isSet == 0 {
		return nil
	}
	return &p.sets[of&^isSet]
}

// add adds id to the set of key.
func (p *postings) add(key uint64, id uint32) {
	known, found := p.byKey[key]
	switch set := p.set(known); {
	case !found:
		p.byKey[key] = posting(id)
	case set != nil:
		set.Add(id)
	case known != posting(id):
		of := p.newSet()
		p.set(of).Add(uint32(known))
		p.set(of).Add(id)
		p.byKey[key] = of
	}
}

func (p *postings) newSet() posting {
	if n := len(p.free); n > 0 {
		of := p.free[n-1]
		p.free = p.free[:n-1]
		return of
	}
	p.sets = append(p.sets, index.SetEditor{})
	return posting(len(p.sets)-1) | isSet
}

// remove removes id from the set of key, if it is an element.
func (p *postings) remove(key uint64, id uint32) {
	known, found := p.byKey[key]
	switch set := p.set(known); {
	case set != nil:
		if set.Remove(id); set.Len() == 0 {
			*set = index.SetEditor{}
			p.free = append(p.free, known)
			delete(p.byKey, key)
		}
	case found && known == posting(id):
		delete(p.byKey, key)
	}
}

func (p *postings) count(key uint64) int {
	known, found := p.byKey[key]
	switch set := p.set(known); {
	case set != nil:
		return set.Len()
	case found:
		return 1
	}
	return 0
}

// appendTo appends the ids of key, ascending.
func (p *postings) appendTo(key uint64, dst []uint32) []uint32 {
	known, found := p.byKey[key]
	switch set := p.set(known); {
	case set != nil:
		return set.AppendTo(dst)
	case found:
		return append(dst, uint32(known))
	}
	return dst
}
