package naive

import (
	"strings"
	"testing"
)

// everyShape has a field for each row of SPEC 6.
type everyShape struct {
	Scalar    *int              `json:"scalar,omitzero"`
	List      []string          `json:"list,omitzero"`
	Nested    *nestedShape      `json:"nested,omitzero"`
	Value     nestedShape       `json:"value"`
	AppendTo  []string          `json:"appendTo,omitzero"`
	Concat    []string          `json:"concat,omitzero" policyMerge:"concat"`
	Both      []string          `json:"both,omitzero"`
	Keyed     []keyedShape      `json:"keyed,omitzero" policyMerge:"mergeValuesByKey"`
	Behind    *[]string         `json:"behind,omitzero" policyMerge:"concat"`
	KeyedPtr  *[]keyedShape     `json:"keyedPtr,omitzero" policyMerge:"mergeValuesByKey"`
	Ranked    []keyedShape      `json:"ranked,omitzero" policyMerge:"mergeValuesByKey,highestFirst"`
	Folded    []foldedShape     `json:"folded,omitzero" policyMerge:"mergeValuesByKey"`
	Map       map[string]int    `json:"map,omitzero"`
	Structs   map[string]*inner `json:"structs,omitzero"`
	Union     *unionShape       `json:"union,omitzero"`
	ZeroUnset int               `json:"zeroUnset,omitzero" policyMerge:"omitzero"`
	Appendix  []string          `json:"appendix,omitzero"`
	Opaque    *opaqueShape      `json:"opaque,omitzero"`
	Hidden    hiddenShape       `json:"hidden,omitzero"`
}

// hiddenShape is omitted from the output if everything in it is zero.
type hiddenShape struct {
	Inner nestedShape `json:"inner,omitzero"`
	List  []string    `json:"list,omitzero"`
}

type nestedShape struct {
	Inner  *inner `json:"inner,omitzero"`
	Number *int   `json:"number,omitzero"`
}

type inner struct {
	A *int `json:"a,omitzero"`
	B *int `json:"b,omitzero"`
	C int  `json:"c,omitzero" policyMerge:"omitzero"`
}

type keyedShape struct {
	Name  string      `json:"name" policyMerge:"mergeKey"`
	Inner *inner      `json:"inner,omitzero"`
	Union *unionShape `json:"union,omitzero"`
}

type foldedShape struct {
	Name  foldedName `json:"name,omitzero" policyMerge:"mergeKey"`
	Value *int       `json:"value,omitzero"`
}

// foldedName compares without regard to letter case.
type foldedName string

func (n foldedName) Equal(o foldedName) bool {
	return strings.EqualFold(string(n), string(o))
}

type unionShape struct {
	Type string `json:"type" policyMerge:"discriminator"`
	One  *inner `json:"one,omitzero"`
	Two  *inner `json:"two,omitzero"`
}

type opaqueShape struct {
	A *int `json:"a,omitzero"`
	B *int `json:"b,omitzero"`
}

func (s *opaqueShape) Equal(o *opaqueShape) bool { return s == o }

func p(n int) *int { return &n }

func TestMerge(t *testing.T) {
	in := func(a, b *int) *inner { return &inner{A: a, B: b} }
	tests := []struct {
		name    string
		confs   []everyShape // lowest priority first
		conf    string       // without "value": {}, which is always present
		leaves  string
		origins string
	}{
		{"no conf sets anything", []everyShape{{}, {}}, `{}`, `{}`, `[]`},
		{"a scalar is replaced, by zero too", []everyShape{{Scalar: p(1)}, {Scalar: p(0)}, {}},
			`{"scalar": 0}`, `{"/scalar": 1}`, `[1]`},
		{"a list is replaced whole", []everyShape{{List: []string{"a", "b"}}, {List: []string{"c"}}},
			`{"list": ["c"]}`, `{"/list": 1}`, `[1]`},
		{"an empty list resets", []everyShape{{List: []string{"a"}}, {List: []string{}}, {}},
			`{"list": []}`, `{"/list": 1}`, `[1]`},
		{"structs merge field by field",
			[]everyShape{{Nested: &nestedShape{Number: p(1), Inner: in(p(1), p(1))}}, {Nested: &nestedShape{Inner: in(nil, p(2))}}},
			`{"nested": {"number": 1, "inner": {"a": 1, "b": 2}}}`,
			`{"/nested/number": 0, "/nested/inner/a": 0, "/nested/inner/b": 1}`, `[0, 1]`},
		{"structs by value too", []everyShape{{Value: nestedShape{Number: p(1)}}, {Value: nestedShape{Inner: in(p(2), nil)}}},
			`{"value": {"number": 1, "inner": {"a": 2}}}`, `{"/value/number": 0, "/value/inner/a": 1}`, `[0, 1]`},
		{"a struct by value is left out if it has that tag and nothing is set",
			[]everyShape{{Hidden: hiddenShape{}}}, `{}`, `{}`, `[]`},
		{"an empty list in it is something", []everyShape{{Hidden: hiddenShape{List: []string{}}}, {}},
			`{"hidden": {"list": []}}`, `{"/hidden/list": 0}`, `[0]`},
		{"a key that is zero is left out if it has that tag", []everyShape{{Folded: []foldedShape{{"", p(1)}}}},
			`{"folded": [{"value": 1}]}`, `{"/folded/0": 0}`, `[0]`},
		{"an object with nothing set is a leaf of the last that has it", []everyShape{{Nested: &nestedShape{}}, {Nested: &nestedShape{}}, {}},
			`{"nested": {}}`, `{"/nested": 1}`, `[1]`},
		{"and none once something is set in it", []everyShape{{Nested: &nestedShape{}}, {Nested: &nestedShape{Number: p(1)}}, {Nested: &nestedShape{}}},
			`{"nested": {"number": 1}}`, `{"/nested/number": 1}`, `[1]`},
		{"Append... is concatenated", []everyShape{{AppendTo: []string{"a"}}, {}, {AppendTo: []string{"b", "a"}}},
			`{"appendTo": ["a", "b", "a"]}`, `{"/appendTo/0": 0, "/appendTo/1": 2, "/appendTo/2": 2}`, `[0, 2]`},
		{"so is a tagged list", []everyShape{{Concat: []string{"a"}}, {Concat: []string{}}, {Concat: []string{"b"}}},
			`{"concat": ["a", "b"]}`, `{"/concat/0": 0, "/concat/1": 2}`, `[0, 2]`},
		{"so is one behind a pointer", []everyShape{{Behind: &[]string{"a"}}, {}, {Behind: &[]string{"b"}}},
			`{"behind": ["a", "b"]}`, `{"/behind/0": 0, "/behind/1": 2}`, `[0, 2]`},
		{"elements behind a pointer merge",
			[]everyShape{{KeyedPtr: &[]keyedShape{{"x", in(p(1), p(1)), nil}}}, {KeyedPtr: &[]keyedShape{{"x", in(p(2), nil), nil}}}},
			`{"keyedPtr": [{"name": "x", "inner": {"a": 2, "b": 1}}]}`, `{"/keyedPtr/0": 1}`, `[0, 1]`},
		{"an empty one is a leaf until something is appended", []everyShape{{Concat: []string{}}, {Concat: []string{}}, {}},
			`{"concat": []}`, `{"/concat": 1}`, `[1]`},
		{"an Appendix is not", []everyShape{{Appendix: []string{"a"}}, {Appendix: []string{"b"}}},
			`{"appendix": ["b"]}`, `{"/appendix": 1}`, `[1]`},
		{"equal keys merge at the position of the last one",
			[]everyShape{
				{Keyed: []keyedShape{{"x", in(p(1), p(1)), nil}, {"y", nil, nil}}},
				{Keyed: []keyedShape{{"z", nil, nil}, {"x", in(p(2), nil), nil}}},
			},
			`{"keyed": [{"name": "y"}, {"name": "z"}, {"name": "x", "inner": {"a": 2, "b": 1}}]}`,
			`{"/keyed/0": 0, "/keyed/1": 1, "/keyed/2": 1}`, `[0, 1]`},
		{"those of a higher list are first, if the tag asks for it",
			[]everyShape{
				{Ranked: []keyedShape{{"x", in(p(1), p(1)), nil}, {"y", nil, nil}}},
				{Ranked: []keyedShape{{"z", nil, nil}, {"x", in(p(2), nil), nil}, {"z", nil, nil}}},
			},
			`{"ranked": [{"name": "x", "inner": {"a": 2, "b": 1}}, {"name": "z"}, {"name": "y"}]}`,
			`{"/ranked/0": 1, "/ranked/1": 1, "/ranked/2": 0}`, `[0, 1]`},
		{"equal keys of one list merge too", []everyShape{{Keyed: []keyedShape{{"x", in(p(1), nil), nil}, {"y", nil, nil}, {"x", in(nil, p(2)), nil}}}},
			`{"keyed": [{"name": "y"}, {"name": "x", "inner": {"a": 1, "b": 2}}]}`, `{"/keyed/0": 0, "/keyed/1": 0}`, `[0]`},
		{"an element that is overridden whole has one origin", []everyShape{{Keyed: []keyedShape{{"x", in(p(1), nil), nil}}}, {Keyed: []keyedShape{{"x", in(p(2), nil), nil}}}},
			`{"keyed": [{"name": "x", "inner": {"a": 2}}]}`, `{"/keyed/0": 1}`, `[1]`},
		{"elements with an equal key merge in order, those of one list too",
			[]everyShape{
				{Keyed: []keyedShape{{"x", nil, &unionShape{Type: "one", One: in(p(1), nil)}}}},
				{Keyed: []keyedShape{{"x", nil, &unionShape{Type: "two"}}, {"x", nil, &unionShape{Type: "one"}}}},
			},
			`{"keyed": [{"name": "x", "union": {"type": "one"}}]}`, `{"/keyed/0": 1}`, `[1]`},
		{"an empty list of elements is a leaf", []everyShape{{Keyed: []keyedShape{}}, {}}, `{"keyed": []}`, `{"/keyed": 0}`, `[0]`},
		{"a key's own Equal is used", []everyShape{{Folded: []foldedShape{{"X", p(1)}}}, {Folded: []foldedShape{{"x", nil}}}},
			`{"folded": [{"name": "x", "value": 1}]}`, `{"/folded/0": 1}`, `[0, 1]`},
		{"a map merges by key", []everyShape{{Map: map[string]int{"a/~": 1, "b": 1}}, {Map: map[string]int{"b": 2}}},
			`{"map": {"a/~": 1, "b": 2}}`, `{"/map/a~1~0": 0, "/map/b": 1}`, `[0, 1]`},
		{"an empty map is a leaf", []everyShape{{Map: map[string]int{}}, {}}, `{"map": {}}`, `{"/map": 0}`, `[0]`},
		{"structs in a map merge", []everyShape{{Structs: map[string]*inner{"x": in(p(1), nil)}}, {Structs: map[string]*inner{"x": in(nil, p(2))}}},
			`{"structs": {"x": {"a": 1, "b": 2}}}`, `{"/structs/x": 1}`, `[0, 1]`},
		{"an entry that is only there sets nothing in it", []everyShape{{Structs: map[string]*inner{"x": in(p(1), nil)}}, {Structs: map[string]*inner{"x": {}}}},
			`{"structs": {"x": {"a": 1}}}`, `{"/structs/x": 0}`, `[0]`},
		{"another type drops the old arm", []everyShape{{Union: &unionShape{Type: "one", One: in(p(1), nil)}}, {Union: &unionShape{Type: "two", Two: in(nil, p(2))}}},
			`{"union": {"type": "two", "two": {"b": 2}}}`, `{"/union/type": 1, "/union/two/b": 1}`, `[1]`},
		{"the same type merges the arm", []everyShape{{Union: &unionShape{Type: "one", One: in(p(1), nil)}}, {Union: &unionShape{Type: "one", One: in(nil, p(2))}}},
			`{"union": {"type": "one", "one": {"a": 1, "b": 2}}}`, `{"/union/type": 1, "/union/one/a": 0, "/union/one/b": 1}`, `[0, 1]`},
		{"what a type in between dropped stays dropped",
			[]everyShape{{Union: &unionShape{Type: "one", One: in(p(1), nil)}}, {Union: &unionShape{Type: "two"}}, {Union: &unionShape{Type: "one", One: in(nil, p(2))}}},
			`{"union": {"type": "one", "one": {"b": 2}}}`, `{"/union/type": 2, "/union/one/b": 2}`, `[2]`},
		{"zero is not set if it has that tag", []everyShape{{ZeroUnset: 3}, {ZeroUnset: 0}}, `{"zeroUnset": 3}`, `{"/zeroUnset": 0}`, `[0]`},
		{"a type with its own Equal, Hash and Clone is one value", []everyShape{{Opaque: &opaqueShape{A: p(1)}}, {Opaque: &opaqueShape{B: p(2)}}},
			`{"opaque": {"b": 2}}`, `{"/opaque": 1}`, `[1]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var confs []any
			for i := range test.confs {
				confs = append(confs, &test.confs[i])
			}
			conf, origins, leaves := Merge(confs...)
			got := tree(t, conf).(map[string]any)
			if value, always := got["value"].(map[string]any); !always {
				t.Error(`a struct by value is left out`)
			} else if len(value) == 0 {
				delete(got, "value")
			}
			expect(t, got, test.conf)
			expect(t, leaves, test.leaves)
			expect(t, origins, test.origins)
		})
	}
}

// A merge never changes its inputs, and a later merge does not change an earlier
// result.
func TestMergeChangesNothing(t *testing.T) {
	low := &everyShape{AppendTo: append(make([]string, 0, 4), "a"), Map: map[string]int{"a": 1}}
	high := &everyShape{AppendTo: []string{"b"}, Map: map[string]int{"b": 2}}
	first, _, _ := Merge(low)
	Merge(low, high)
	expect(t, first, `{"appendTo": ["a"], "map": {"a": 1}, "value": {}}`)
	expect(t, low, `{"appendTo": ["a"], "map": {"a": 1}, "value": {}}`)
}

func TestMergeOfNothing(t *testing.T) {
	if conf, origins, _ := Merge(); conf != nil || len(origins) != 0 {
		t.Errorf("there is a conf: %v", conf)
	}
}
