package variant

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/partition"
)

// String returns the constraint in short form: key=value, key!=value, key (it
// exists) and !key (it does not exist), combined by & and |, such as
//
//	team=a & !version & (env=prod | env=test)
//
// A constraint that accepts all parameters is "all"; a constraint that accepts
// none is "none".
func (c Constraint) String() string {
	var b strings.Builder
	writeShort(&b, c.predicate, false)
	return b.String()
}

func writeShort(b *strings.Builder, p partition.Predicate, nested bool) {
	switch members := p.Members(); p.Op() {
	case partition.OpEqual:
		b.WriteString(word(p.Key()) + "=" + word(p.Value()))
	case partition.OpPresent:
		b.WriteString(word(p.Key()))
	case partition.OpNot:
		switch inner := members[0]; inner.Op() {
		case partition.OpEqual:
			b.WriteString(word(inner.Key()) + "!=" + word(inner.Value()))
		default:
			b.WriteByte('!')
			writeShort(b, inner, true)
		}
	case partition.OpOr:
		writeMembers(b, members, " | ", "none", nested)
	default:
		writeMembers(b, members, " & ", "all", nested)
	}
}

func writeMembers(b *strings.Builder, members []partition.Predicate, operator, empty string, nested bool) {
	switch len(members) {
	case 0:
		b.WriteString(empty)
		return
	case 1:
		writeShort(b, members[0], nested)
		return
	}
	if nested {
		b.WriteByte('(')
	}
	for i, member := range members {
		if i > 0 {
			b.WriteString(operator)
		}
		writeShort(b, member, true)
	}
	if nested {
		b.WriteByte(')')
	}
}

// word returns a key or value, quoted if it could be misread.
func word(s string) string {
	plain := s != "" && s != "all" && s != "none" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/@-*", r)
	})
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// FormatParameters returns parameters in the form {k=v, k=v}, sorted by key.
func FormatParameters(p Parameters) string {
	pairs := make([]string, 0, len(p))
	for _, key := range slices.Sorted(maps.Keys(p)) {
		pairs = append(pairs, word(key)+"="+word(p[key]))
	}
	return "{" + strings.Join(pairs, ", ") + "}"
}
