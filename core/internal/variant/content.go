package variant

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// contentMerger merges the contents of fragments from the highest priority down. It
// is an Algebra of package partition.
//
// Merging is not associative. The merge of a mapping, a scalar and a mapping, lowest
// first, is the last mapping; without the scalar, the two mappings would be merged. So
// a merge from the top records, in addition to the values, which values are sealed. A
// value is sealed if a value of lower priority has another shape at the same place, and
// so hides everything below it. The effect of a lower fragment then depends on the
// merge alone, and merges that are equal, including their seals, are one State.
type contentMerger struct {
	fragments []Fragment
	merges    []*value           // by State
	states    map[string]int     // by encoding
	numbers   map[string]content // of the contents, by their JSON
	contents  []map[string]any   // by number
	buffer    []byte
}

// content is the number of a content.
type content int

// value is a merged value. It is immutable.
type value struct {
	mapping map[string]*value // nil if it is not a mapping
	list    []any             // nil if it is not a list
	scalar  any
	sealed  bool // no value of lower priority can change it; always true for a scalar
}

func newContentMerger(fragments []Fragment) *contentMerger {
	m := &contentMerger{fragments: fragments, states: make(map[string]int), numbers: make(map[string]content)}
	m.state(newValue(map[string]any{}))
	return m
}

// Start returns the empty content.
func (m *contentMerger) Start() int { return 0 }

// Add returns the merge with a fragment of lower priority filled in.
func (m *contentMerger) Add(state, fragment int) int {
	merged := m.merges[state]
	next := merged.fill(map[string]any(m.fragments[fragment].Content))
	if next == merged {
		return state
	}
	return m.state(next)
}

func (m *contentMerger) state(v *value) int {
	m.buffer = v.encode(m.buffer[:0])
	if state, ok := m.states[string(m.buffer)]; ok {
		return state
	}
	state := len(m.merges)
	m.merges = append(m.merges, v)
	m.states[string(m.buffer)] = state
	return state
}

// content returns the number of the content that a State represents, which is
// the merge without its seals.
func (m *contentMerger) content(state int) content {
	tree := m.merges[state].tree().(map[string]any)
	m.buffer = appendJSON(m.buffer[:0], tree)
	number, ok := m.numbers[string(m.buffer)]
	if !ok {
		number = content(len(m.contents))
		m.contents = append(m.contents, tree)
		m.numbers[string(m.buffer)] = number
	}
	return number
}

func newValue(tree any) *value {
	switch tree := tree.(type) {
	case map[string]any:
		v := &value{mapping: make(map[string]*value, len(tree))}
		for key, member := range tree {
			v.mapping[key] = newValue(member)
		}
		return v
	case []any:
		if tree == nil {
			tree = []any{}
		}
		return &value{list: tree}
	default:
		return &value{scalar: tree, sealed: true}
	}
}

// fill returns v with a value of lower priority filled in, or v itself if there
// is no change.
func (v *value) fill(lower any) *value {
	if v.sealed {
		return v
	}
	switch lower := lower.(type) {
	case map[string]any:
		if v.mapping != nil {
			return v.fillMapping(lower)
		}
	case []any:
		switch {
		case v.list == nil:
		case len(lower) == 0:
			return v
		default:
			return &value{list: slices.Concat(lower, v.list)}
		}
	}
	return &value{mapping: v.mapping, list: v.list, sealed: true}
}

func (v *value) fillMapping(lower map[string]any) *value {
	var filled map[string]*value
	for key, member := range lower {
		before := v.mapping[key]
		var after *value
		if before == nil {
			after = newValue(member)
		} else if after = before.fill(member); after == before {
			continue
		}
		if filled == nil {
			filled = maps.Clone(v.mapping)
		}
		filled[key] = after
	}
	if filled == nil {
		return v
	}
	return &value{mapping: filled}
}

// tree returns the value without its seals.
func (v *value) tree() any {
	switch {
	case v.mapping != nil:
		tree := make(map[string]any, len(v.mapping))
		for key, member := range v.mapping {
			tree[key] = member.tree()
		}
		return tree
	case v.list != nil:
		return v.list
	default:
		return v.scalar
	}
}

// encode appends an encoding that is different for different values, including seals.
func (v *value) encode(to []byte) []byte {
	switch {
	case v.mapping != nil:
		to = append(to, '{')
		for _, key := range slices.Sorted(maps.Keys(v.mapping)) {
			to = append(strconv.AppendQuote(to, key), ':')
			to = v.mapping[key].encode(to)
		}
		to = append(to, '}')
	case v.list != nil:
		to = appendJSON(to, v.list)
	default:
		to = appendJSON(to, v.scalar)
	}
	if v.sealed {
		to = append(to, '!')
	}
	return to
}

func appendJSON(to []byte, tree any) []byte {
	data, err := json.Marshal(tree)
	if err != nil { // the content has types that Content does not allow
		panic("variant: a content has no JSON: " + err.Error())
	}
	return append(to, data...)
}
