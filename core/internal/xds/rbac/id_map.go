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
		if r.joint() {
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
// expression of [oneOf]. There must be at least one identity.
func alternatives(ids []string) int {
	shared, size := len(ids[0]), 0 // size: of the identities without what they share
	for n, id := range ids {
		begin := sharedPrefix(ids[0][:shared], id)
		size += n*(shared-begin) + len(id) - begin + 1
		if shared = begin; size > maxAlternation && n > 0 {
			return n
		}
	}
	return len(ids)
}

// oneOf returns an expression that matches each of the texts, and no other. There must be at
// least one.
func oneOf(texts []string) string {
	shared := texts[0]
	for _, text := range texts[1:] {
		shared = shared[:sharedPrefix(shared, text)]
	}
	expression := appendQuoted(make([]byte, 0, 256), shared)
	if len(texts) == 1 {
		return string(expression)
	}
	expression = append(expression, "(?:"...)
	for i, text := range texts {
		if i > 0 {
			expression = append(expression, '|')
		}
		expression = appendQuoted(expression, text[len(shared):])
	}
	return string(append(expression, ')'))
}

// identities divides the entries of a rule in the list: SPIFFE IDs and prefixes of them that
// entries ask for and nothing else, and the other entries. The former are alternatives of one
// comparison, which takes much less space than one for each.
//
// The exact IDs include those in the map, if the rule has a prefix and they are not too many
// for one expression. The map comes first, so for its clients the comparison is not reached.
// A client with further URI SANs reaches it in the order of the rules. No entry before it can
// match an identity that is in the map (see plan).
func (r *stageRule) identities() (exact []string, below []*conf.SpiffeIDMatch, others []*permission.Entry) {
	for _, e := range r.listed {
		switch {
		case !asksForIDOnly(e):
			others = append(others, e)
		case e.Match.SpiffeID.Type == conf.SpiffeIDExact:
			exact = append(exact, e.Match.SpiffeID.Value)
		default:
			below = append(below, e.Match.SpiffeID)
		}
	}
	if r.joint() {
		exact = append(exact, r.mapped...)
	}
	return exact, below, others
}

// joint reports whether the list compares the mapped identities of the rule together with a
// prefix.
func (r *stageRule) joint() bool {
	return len(r.mapped) > 0 && alternatives(r.mapped) == len(r.mapped) &&
		slices.ContainsFunc(r.listed, func(e *permission.Entry) bool {
			return asksForIDOnly(e) && e.Match.SpiffeID.Type.IsPrefix()
		})
}

// identityConditions returns conditions that hold for the clients with one of the SPIFFE IDs
// or with one below a prefix: one condition, unless they are too many for one expression.
func identityConditions(exact []string, prefixes []*conf.SpiffeIDMatch) []*condition {
	var out []*condition
	var few [2]idRest // prefixes by segment, and by text
	for _, rest := range appendRests(few[:0], prefixes) {
		out, exact = appendExpressions(out, exact, rest), nil
	}
	return appendExpressions(out, exact, idRest{})
}

// idRest is the part of a SPIFFE ID behind a prefix, as an expression, with the prefixes that
// it follows.
type idRest struct {
	expression string
	prefixes   []string
}

// appendRests appends the prefixes, those with the same rest together.
func appendRests(rests []idRest, matches []*conf.SpiffeIDMatch) []idRest {
	for _, m := range matches {
		prefix, expression := splitPrefix(m)
		i := slices.IndexFunc(rests, func(r idRest) bool { return r.expression == expression })
		if i < 0 {
			i, rests = len(rests), append(rests, idRest{expression: expression})
		}
		rests[i].prefixes = append(rests[i].prefixes, prefix)
	}
	return rests
}

// appendExpressions appends the conditions of exact IDs and of prefixes with one rest.
func appendExpressions(out []*condition, exact []string, rest idRest) []*condition {
	below := rest.prefixes
	for len(exact) > 0 || len(below) > 0 {
		expression := ""
		if len(exact) > 0 {
			n := alternatives(exact)
			expression, exact = oneOf(exact[:n]), exact[n:]
		}
		if len(below) > 0 {
			n := alternatives(below)
			some := oneOf(below[:n]) + rest.expression
			if expression == "" {
				expression = some
			} else {
				expression = "(?:" + expression + "|" + some + ")"
			}
			below = below[n:]
		}
		out = append(out, comparison(input{kind: clientURI}, textRegex, amongURIs(expression)))
	}
	return out
}

// appendQuoted appends an expression that matches the text of a SPIFFE ID or of a prefix. The
// dot is the only character of them that is special in expressions.
func appendQuoted(b []byte, id string) []byte {
	for i := range len(id) {
		if id[i] == '.' {
			b = append(b, '\\')
		}
		b = append(b, id[i])
	}
	return b
}
