package rbac

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
)

// mappedID is a SPIFFE ID in the map of a stage.
type mappedID struct {
	id   string
	rule int32 // index of its rule
	do   *action
}

// idsOf returns the identities in the map of a stage, sorted, each with its first rule.
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
	slices.SortFunc(out, func(a, b mappedID) int {
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.rule, b.rule))
	})
	return slices.CompactFunc(out, func(a, b mappedID) bool { return a.id == b.id })
}

// sharedPrefix returns the length of the longest common prefix of a and b in bytes.
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
	// Each action is marshalled once; the IDs of a rule share it.
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

// maxAlternation bounds one expression of identities, in bytes: Envoy's RE2 refuses large
// expressions.
const maxAlternation = 4 << 10

// idLists returns for each rule of a stage the identities that are compared as a list, for
// clients whose certificates have further URI SANs. An identity that is compared together
// with an entry (see joint) is omitted, even in later rules: that comparison comes first.
func idLists(stage []stageRule) (lists [][]string, some bool) {
	later := map[string]bool{}
	lists = make([][]string, len(stage))
	for i, r := range stage {
		if r.joint() != nil {
			for _, id := range r.mapped {
				later[id] = true
			}
			continue
		}
		lists[i] = r.mapped
		if len(later) > 0 {
			lists[i] = slices.DeleteFunc(slices.Clone(r.mapped), func(id string) bool { return later[id] })
		}
		some = some || len(lists[i]) > 0
	}
	return lists, some
}

// idList writes the lists of a stage in the order of the rules, with one expression for
// the identities of a rule.
func (w *matcherWriter) idList(rules []ruleEntries, stage []stageRule, lists [][]string) {
	for i, ids := range lists {
		do := action{policy: rules[stage[i].rule].kri, deny: rules[stage[i].rule].deny}
		for len(ids) > 0 && !w.full {
			n := alternatives(ids)
			w.branch(branch{
				when: comparison(input{kind: clientURI}, textRegex, amongURIs(oneOf(ids[:n]))),
				do:   do,
			})
			ids = ids[n:]
		}
	}
}

// alternatives returns how many of the identities, from the first one on, fit into one
// expression. There must be at least one identity.
func alternatives(ids []string) int {
	size, n := 0, 0
	for n < len(ids) && size < maxAlternation {
		size += len(ids[n])
		n++
	}
	return n
}

// oneOf returns an expression that matches each of the identities.
func oneOf(ids []string) string {
	shared := ids[0]
	for _, id := range ids[1:] {
		shared = shared[:sharedPrefix(shared, id)]
	}
	expression := append(appendQuoted(make([]byte, 0, 256), shared), "(?:"...)
	for i, id := range ids {
		if i > 0 {
			expression = append(expression, '|')
		}
		expression = appendQuoted(expression, id[len(shared):])
	}
	return string(append(expression, ')'))
}

// joint returns the entry in the list whose comparison also includes the mapped identities
// of the rule: the first one that asks for a prefix of SPIFFE IDs and nothing else. One
// comparison takes half the space of two. It returns nil if there is no such entry, or if
// there are no identities or too many for one expression.
//
// The map comes first, so for its clients the comparison is not reached. A client
// with further URI SANs reaches it in the order of the rules, and no entry before
// it can match an identity that is in the map (see plan).
func (r *stageRule) joint() *permission.Entry {
	if len(r.mapped) == 0 || alternatives(r.mapped) < len(r.mapped) {
		return nil
	}
	for _, e := range r.listed {
		if asksForIDOnly(e) && e.Match.SpiffeID.Type == conf.SpiffeIDPrefix {
			return e
		}
	}
	return nil
}

// appendQuoted appends an expression that matches the text of a SPIFFE ID. The dot is the
// only character of an ID that is special in expressions.
func appendQuoted(b []byte, id string) []byte {
	for i := range len(id) {
		if id[i] == '.' {
			b = append(b, '\\')
		}
		b = append(b, id[i])
	}
	return b
}
