package partition

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Predicate is a formula that selects clients by their keys and values. It is
// immutable.
//
// A client has at most one value for a key. Keys that a predicate does not
// name never prevent a match (SPEC 9.1). The zero Predicate is the AND of
// nothing and accepts every client.
type Predicate struct {
	op      Op
	key     string
	value   string
	members []Predicate
}

// Op is the outermost operation of a [Predicate].
type Op uint8

// The operations. OpAnd is the zero value: the AND of nothing is true, the OR
// of nothing is false (SPEC 9.1).
const (
	OpAnd Op = iota
	OpOr
	OpNot
	OpEqual
	OpPresent
)

// True accepts every client.
func True() Predicate { return Predicate{} }

// False accepts no client.
func False() Predicate { return Predicate{op: OpOr} }

// Equal accepts the clients whose value for key is exactly value; no value,
// not even "*", has a special meaning here.
func Equal(key, value string) Predicate {
	return Predicate{op: OpEqual, key: key, value: value}
}

// Present accepts the clients that have any value for key.
func Present(key string) Predicate { return Predicate{op: OpPresent, key: key} }

// And accepts the clients that every member accepts.
func And(members ...Predicate) Predicate {
	return Predicate{op: OpAnd, members: slices.Clone(members)}
}

// Or accepts the clients that at least one member accepts.
func Or(members ...Predicate) Predicate {
	return Predicate{op: OpOr, members: slices.Clone(members)}
}

// Not accepts the clients that p does not accept.
func Not(p Predicate) Predicate {
	return Predicate{op: OpNot, members: []Predicate{p}}
}

// Op returns the outermost operation.
func (p Predicate) Op() Op { return p.op }

// Key returns the key of an OpEqual or OpPresent predicate.
func (p Predicate) Key() string { return p.key }

// Value returns the value of an OpEqual predicate.
func (p Predicate) Value() string { return p.value }

// Members returns a copy of the members of an OpAnd, OpOr or OpNot predicate.
// OpNot has exactly one.
func (p Predicate) Members() []Predicate { return slices.Clone(p.members) }

// Nodes returns the number of operations, including literals. Each occurrence adds
// one.
func (p Predicate) Nodes() int {
	n := 1
	for i := range p.members {
		n += p.members[i].Nodes()
	}
	return n
}

// Keys returns the keys that the predicate names, by name.
func (p Predicate) Keys() []string {
	var keys []string
	for _, l := range p.literals(nil) {
		keys = append(keys, l.key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Accepts reports whether p accepts the client, a map from key to value. It
// evaluates the formula directly, without compiling or allocating.
func (p Predicate) Accepts(client map[string]string) bool {
	switch p.op {
	case OpOr:
		for i := range p.members {
			if p.members[i].Accepts(client) {
				return true
			}
		}
		return false
	case OpNot:
		return !p.members[0].Accepts(client)
	case OpEqual:
		value, ok := client[p.key]
		return ok && value == p.value
	case OpPresent:
		_, ok := client[p.key]
		return ok
	default:
		for i := range p.members {
			if !p.members[i].Accepts(client) {
				return false
			}
		}
		return true
	}
}

// String returns the formula. Names that could be misread are quoted, so that
// different formulas have different texts.
func (p Predicate) String() string {
	var b strings.Builder
	p.print(&b, false)
	return b.String()
}

func (p Predicate) print(b *strings.Builder, nested bool) {
	switch p.op {
	case OpEqual:
		b.WriteString(quote(p.key) + "=" + quote(p.value))
	case OpPresent:
		b.WriteString(quote(p.key) + "=*")
	case OpNot:
		b.WriteString("NOT ")
		p.members[0].print(b, true)
	default:
		word, none := " AND ", "TRUE"
		if p.op == OpOr {
			word, none = " OR ", "FALSE"
		}
		switch {
		case len(p.members) == 0:
			b.WriteString(none)
			return
		case len(p.members) == 1:
			// Parentheses distinguish the AND or OR of one member from the member
			// itself.
			word, nested = strings.TrimLeft(word, " "), true
		}
		if nested {
			b.WriteByte('(')
		}
		for i := range p.members {
			if i > 0 || len(p.members) == 1 {
				b.WriteString(word)
			}
			p.members[i].print(b, true)
		}
		if nested {
			b.WriteByte(')')
		}
	}
}

// quote quotes a name, except one that is valid as a tag key or value of SPEC 1.2.
func quote(name string) string {
	if name == "" {
		return `""`
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == ':', c == '/', c == '-':
		default:
			return strconv.Quote(name)
		}
	}
	return name
}

// Any as the value of a tag in [Tags] requires that the key is present (SPEC
// 2.2).
const Any = "*"

// Tags is the AND of key=value requirements, as in a targetRef. It maps a key to
// a value; the value [Any] requires only that the key is present. Empty Tags
// select every client. The functions of this package neither retain nor change
// the map.
type Tags map[string]string

// Predicate returns the tags as a predicate.
func (t Tags) Predicate() Predicate {
	p := Predicate{op: OpAnd, members: make([]Predicate, 0, len(t))}
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if t[key] == Any {
			p.members = append(p.members, Present(key))
		} else {
			p.members = append(p.members, Equal(key, t[key]))
		}
	}
	return p
}
