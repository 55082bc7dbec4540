package match

import "github.com/meshmatch/meshmatch/index"

// Postings is an inverted index from keys to sets of ids below 2^31. It belongs to one
// writer, which changes it in place. An [index.Set] that [Postings.Set] has returned never
// changes: the writer copies it before its next change.
//
// Most keys of a mesh, such as the name of a dataplane and the tag of its
// service, have one id. Such a key takes a map entry and no set.
type Postings[K comparable] struct {
	byKey map[K]posting
	sets  []index.SetEditor // of the keys with several ids
	free  []posting         // sets that are not in use
}

// posting is the only id of a key, or isSet with the index of the key's set.
type posting uint32

const isSet posting = 1 << 31

// NewPostings returns an index without keys.
func NewPostings[K comparable]() Postings[K] { return Postings[K]{byKey: map[K]posting{}} }

// editor returns the set of a posting, or nil if the posting is a single id.
func (p *Postings[K]) editor(of posting) *index.SetEditor {
	if of&isSet == 0 {
		return nil
	}
	return &p.sets[of&^isSet]
}

// Len returns the number of keys that have an id.
func (p *Postings[K]) Len() int { return len(p.byKey) }

// Add adds id to the set of key.
func (p *Postings[K]) Add(key K, id uint32) {
	known, found := p.byKey[key]
	switch set := p.editor(known); {
	case !found:
		p.byKey[key] = posting(id)
	case set != nil:
		set.Add(id)
	case known != posting(id):
		of := p.newSet()
		p.editor(of).Add(uint32(known))
		p.editor(of).Add(id)
		p.byKey[key] = of
	}
}

func (p *Postings[K]) newSet() posting {
	if n := len(p.free); n > 0 {
		of := p.free[n-1]
		p.free = p.free[:n-1]
		return of
	}
	p.sets = append(p.sets, index.SetEditor{})
	return posting(len(p.sets)-1) | isSet
}

// Remove removes id from the set of key, if it is an element.
func (p *Postings[K]) Remove(key K, id uint32) {
	known, found := p.byKey[key]
	switch set := p.editor(known); {
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

// Count returns the number of ids of key.
func (p *Postings[K]) Count(key K) int {
	known, found := p.byKey[key]
	switch set := p.editor(known); {
	case set != nil:
		return set.Len()
	case found:
		return 1
	}
	return 0
}

// AppendTo appends the ids of key, ascending.
func (p *Postings[K]) AppendTo(key K, dst []uint32) []uint32 {
	known, found := p.byKey[key]
	switch set := p.editor(known); {
	case set != nil:
		return set.AppendTo(dst)
	case found:
		return append(dst, uint32(known))
	}
	return dst
}

// Set returns the ids of key.
func (p *Postings[K]) Set(key K) index.Set {
	known, found := p.byKey[key]
	switch set := p.editor(known); {
	case set != nil:
		return set.Commit()
	case found:
		var one index.SetEditor
		one.Add(uint32(known))
		return one.Commit()
	}
	return index.Set{}
}
