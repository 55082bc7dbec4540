package rbac

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// mappedID is a SPIFFE ID in a map of a stage.
type mappedID struct {
	id   string
	rule int32 // its place in the order of the rules
	do   *action
	head uint64 // of sorting
}

// idsOf returns the identities that a stage has in its map, sorted, each with
// the first rule that has it.
func idsOf(rules []ruleEntries, stage []stageRule) []mappedID {
	count := 0
	for _, r := range stage {
		count += len(r.mapped)
	}
	if count == 0 {
		return nil
	}
	out := make([]mappedID, 0, count)
	for _, r := range stage {
		if len(r.mapped) == 0 {
			continue
		}
		do := &action{policy: rules[r.rule].kri, deny: rules[r.rule].deny}
		for _, id := range r.mapped {
			out = append(out, mappedID{id: id, rule: int32(r.rule), do: do})
		}
	}
	sortIDs(out)
	return slices.CompactFunc(out, func(a, b mappedID) bool { return a.id == b.id })
}

// sortIDs sorts by ID, then by rule. Identities of a mesh begin alike, so whole
// texts are compared only if the eight bytes after what all of them begin with
// are equal too.
func sortIDs(ids []mappedID) {
	shared := ids[0].id
	for i := range ids {
		shared = shared[:sharedPrefix(shared, ids[i].id)]
	}
	for i := range ids {
		var head [8]byte
		copy(head[:], ids[i].id[len(shared):])
		ids[i].head = binary.BigEndian.Uint64(head[:])
	}
	slices.SortFunc(ids, func(a, b mappedID) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.rule, b.rule))
	})
}

// sharedPrefix returns how many bytes a and b begin with in common.
func sharedPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// idMap writes the entries of a map from identities to actions.
func (w *matcherWriter) idMap(ids []mappedID) {
	// Each action is marshalled once; IDs of a rule share it.
	marshalled := &matcherWriter{writer: &writer{data: make([]byte, 0, 8<<10)}}
	ends := map[*action][2]int{}
	for i := range ids {
		at, ok := ends[ids[i].do]
		if !ok {
			at[0] = len(marshalled.data)
			marshalled.onMatch(entryValue, *ids[i].do)
			at[1] = len(marshalled.data)
			ends[ids[i].do] = at
		}
		w.message(mapEntry, func() {
			w.text(entryKey, ids[i].id)
			w.raw(marshalled.data[at[0]:at[1]])
		})
	}
}

// maxAlternation bounds one expression of identities: Envoy's RE2 refuses large
// ones.
const maxAlternation = 4 << 10

// idList writes the identities of a stage as a list, for clients whose
// certificates have further URI SANs: in the order of the rules, one expression
// for those of a rule.
func (w *matcherWriter) idList(rules []ruleEntries, stage []stageRule) {
	var expression []byte
	for _, r := range stage {
		for ids := r.mapped; len(ids) > 0 && !w.full; {
			shared, size, n := ids[0], 0, 0
			for n < len(ids) && size < maxAlternation {
				shared = shared[:sharedPrefix(shared, ids[n])]
				size += len(ids[n])
				n++
			}
			expression = append(expression[:0], uriBefore...)
			expression = append(appendQuoted(expression, shared), "(?:"...)
			for i, id := range ids[:n] {
				if i > 0 {
					expression = append(expression, '|')
				}
				expression = appendQuoted(expression, id[len(shared):])
			}
			expression = append(append(expression, ')'), uriAfter...)
			w.branch(branch{
				when: comparison(input{kind: clientURI}, textRegex, string(expression)),
				do:   action{policy: rules[r.rule].kri, deny: rules[r.rule].deny},
			})
			ids = ids[n:]
		}
	}
}

// appendQuoted appends an expression for the text of a SPIFFE ID, of which only
// the dot has a meaning in expressions.
func appendQuoted(b []byte, id string) []byte {
	for i := range len(id) {
		if id[i] == '.' {
			b = append(b, '\\')
		}
		b = append(b, id[i])
	}
	return b
}
