package partition

import (
	"cmp"
	"slices"
)

// A domain contains the keys of a call and, for each key, the values that
// predicates mention. Keys and values are numbered in the order in which they
// are declared. For each key, a client has a declared value, another value, or
// none.
//
// A domain grows only while predicates are declared. Diagrams refer to the domain over
// which they were built and read it without locks.
type domain struct {
	keys  []domainKey
	index map[string]int32
}

type domainKey struct {
	name   string
	values []string
	index  map[string]uint32
}

// literal is one mention of a key in a predicate.
type literal struct {
	key, value string
	present    bool // the key alone; value is empty
}

// declare numbers the keys and values of p that are new. Within one predicate it
// numbers them by name, so that permuting the members of AND and OR has no effect on a
// result.
func (d *domain) declare(p Predicate) {
	literals := p.literals(nil)
	slices.SortFunc(literals, func(a, b literal) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value)) })
	for _, l := range literals {
		k := d.key(l.key)
		if !l.present {
			d.value(k, l.value)
		}
	}
}

func (p Predicate) literals(into []literal) []literal {
	switch p.op {
	case OpEqual:
		return append(into, literal{key: p.key, value: p.value})
	case OpPresent:
		return append(into, literal{key: p.key, present: true})
	}
	for i := range p.members {
		into = p.members[i].literals(into)
	}
	return into
}

// key returns the number of a key and declares it if it is new.
func (d *domain) key(name string) int32 {
	if k, ok := d.index[name]; ok {
		return k
	}
	if d.index == nil {
		d.index = make(map[string]int32)
	}
	k := int32(len(d.keys))
	d.index[name] = k
	d.keys = append(d.keys, domainKey{name: name})
	return k
}

// value returns the number of a key's value and declares it if it is new.
func (d *domain) value(k int32, name string) uint32 {
	key := &d.keys[k]
	if v, ok := key.index[name]; ok {
		return v
	}
	if key.index == nil {
		key.index = make(map[string]uint32)
	}
	v := uint32(len(key.values))
	key.index[name] = v
	key.values = append(key.values, name)
	return v
}

// names returns the keys in their order.
func (d *domain) names() []string {
	names := make([]string, len(d.keys))
	for k := range d.keys {
		names[k] = d.keys[k].name
	}
	return names
}

// byName returns the same keys and values, with the keys ordered by name.
// Values keep their numbers.
func (d *domain) byName() *domain {
	keys := slices.Clone(d.keys)
	slices.SortFunc(keys, func(a, b domainKey) int { return cmp.Compare(a.name, b.name) })
	sorted := &domain{keys: keys, index: make(map[string]int32, len(keys))}
	for k := range keys {
		sorted.index[keys[k].name] = int32(k)
	}
	return sorted
}

// unmentioned returns a value that no predicate mentions for the key. An
// example client has it as "another value".
func (k *domainKey) unmentioned() string {
	name := "other"
	for {
		if _, taken := k.index[name]; !taken {
			return name
		}
		name += "-value"
	}
}
