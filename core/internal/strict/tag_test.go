package strict

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// coreSchema is a copy of the table of YAML 1.2.2, section 10.3.2. The first
// expression that matches a plain scalar determines its tag; a scalar with a tag must
// match one of the tag's expressions. The reference below uses no code of this
// package.
var coreSchema = []struct {
	tag  string
	text *regexp.Regexp
	base int
}{
	{"!!null", regexp.MustCompile(`^(null|Null|NULL|~|)$`), 0},
	{"!!bool", regexp.MustCompile(`^(true|True|TRUE|false|False|FALSE)$`), 0},
	{"!!int", regexp.MustCompile(`^[-+]?[0-9]+$`), 10},
	{"!!int", regexp.MustCompile(`^0o[0-7]+$`), 8},
	{"!!int", regexp.MustCompile(`^0x[0-9a-fA-F]+$`), 16},
	{"!!float", regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`), 10},
	{"!!float", regexp.MustCompile(`^([-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN)$`), 0},
}

// reference returns a free-form value by the core schema, or false if JSON cannot
// express it.
func reference(n *yaml.Node) (any, bool) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	tagged := n.Style&yaml.TaggedStyle != 0
	switch n.Kind {
	case yaml.MappingNode:
		fields := map[string]any{}
		for i := 0; i < len(n.Content); i += 2 {
			name, isScalar := reference(n.Content[i])
			text, isText := name.(string)
			_, twice := fields[text]
			value, ok := reference(n.Content[i+1])
			if isMerge := n.Content[i].Tag == "!!merge"; !isScalar || !isText || twice || !ok || isMerge || n.Content[i].Kind == yaml.AliasNode {
				return nil, false
			}
			fields[text] = value
		}
		return fields, !tagged || n.Tag == "!!map"
	case yaml.SequenceNode:
		list := []any{}
		for _, element := range n.Content {
			value, ok := reference(element)
			if !ok {
				return nil, false
			}
			list = append(list, value)
		}
		return list, !tagged || n.Tag == "!!seq"
	}
	isPlain := n.Style&^(yaml.TaggedStyle|yaml.FlowStyle) == 0
	if tagged && n.Tag == "!!str" || !tagged && !isPlain {
		return n.Value, true
	}
	for _, row := range coreSchema {
		if (!tagged || n.Tag == row.tag) && row.text.MatchString(n.Value) {
			return scalarOf(row.tag, row.base, n.Value)
		}
	}
	return n.Value, !tagged
}

func scalarOf(tag string, base int, text string) (any, bool) {
	switch tag {
	case "!!null":
		return nil, true
	case "!!bool":
		return strings.EqualFold(text, "true"), true
	case "!!float":
		f, err := strconv.ParseFloat(text, 64)
		return f, base != 0 && err == nil // .inf and .nan are not numbers in JSON
	}
	digits := text
	if base != 10 {
		digits = text[2:]
	}
	n, _ := new(big.Int).SetString(strings.TrimPrefix(digits, "+"), base)
	switch {
	case text[0] == '-' && n.Sign() == 0:
		return math.Copysign(0, -1), true
	case n.IsUint64():
		return n.Uint64(), true
	case n.IsInt64():
		return n.Int64(), true
	}
	return nil, false
}

// tagged contains values with tags, anchors and everything else that a free-form
// place may contain in YAML.
var tagged = []string{
	"!!int", "!!int ''", "!!float", "!!bool", "!!null", "!!str", "!!map", "!!seq", "!!int a", "!!int 5", "!!int '5'", "!!int 1.0", "!!float 1", "!!float 0x1",
	"!!float .5", "!!float .inf", "!!bool yes", "!!bool 'true'", "!!null text", "!!null ~", "!!str 5", "!!str ~", "!!str [a]", "!!map [a]", "!!seq {a: b}",
	"!!map {a: b}", "!!seq [a]", "!!set {a: ~}", "!!omap [a: b]", "!!binary aGk=", "!!timestamp 2001-01-01", "!!merge <<", "!custom a", "!custom {a: b}", "!<tag:yaml.org,2002:int> 5",
	"!<tag:yaml.org,2002:int>", "!<x> a", "-0", "+0", "-00", "0", "-0.0", "0o17", "017", "0x1F", "-0x1", "~", "null", "", "yes", "1e3", "1_000", "99999999999999999999",
	"{a: !!int , b: [!!null x, -0]}", "{a: !custom {b: c}}", "[!custom [a]]", "{? !!int a : b}", "{!!str 5: b}", "{!!int 5: b}", "{!!null ~: b}", "{&a b: *a}", "{a: &x 1, b: *x}",
	"{a: &x {b: c}, d: {<<: *x}}", "{a: &x !!int , b: *x}", "[&x !!null t, *x]", "{a: 1, a: 2}", "{5: a}", "{~: a}", "{'': a}", "&x [*x]",
}

// FuzzTags reads free-form values, and compares them with the core schema.
//
//fuzz:executions 60000
func FuzzTags(f *testing.F) {
	for _, value := range tagged {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		document := "text: a\nanything: " + value + "\n"
		if strings.ContainsAny(value, "%") || strings.Contains(value, "! ") {
			t.Skip() // the parser drops %TAG and the tag "!"
		}
		root, ok := rootOf(document)
		if !ok {
			t.Skip()
		}
		want, valid := reference(root.Content[3])
		valid = valid && want != nil
		got, errs := readWithin(Limits{Depth: 20, Nodes: 2000}, document, readYAML)
		if strings.Contains(errs, "nested deeper") || strings.Contains(errs, " values") || strings.Contains(errs, "contains itself") {
			t.Skip()
		}
		switch {
		case valid != (errs == ""):
			t.Errorf("%q is valid: %v; errors: %s", value, valid, errs)
		case valid && (len(got) != 1 || !reflect.DeepEqual(got[0].Anything, want)):
			t.Errorf("%q, -want +got: %s", value, cmp.Diff(want, got[0].Anything))
		case valid && want == 0.0 && math.Signbit(want.(float64)) != math.Signbit(got[0].Anything.(float64)):
			t.Errorf("%q has another sign", value)
		case !valid && strings.Contains(errs, "f:0:"):
			t.Errorf("%q: an error without a position: %s", value, errs)
		}
	})
}

// rootOf returns the mapping of a document, if it has the two fields that FuzzTags writes.
func rootOf(document string) (*yaml.Node, bool) {
	var root yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(document)))
	if err := decoder.Decode(&root); err != nil || len(root.Content) != 1 {
		return nil, false
	}
	fields := root.Content[0]
	if fields.Kind != yaml.MappingNode || len(fields.Content) != 4 || fields.Content[2].Value != "anything" || isCyclic(fields, nil) {
		return nil, false
	}
	return fields, errors.Is(decoder.Decode(&root), io.EOF) // there is no further document, even a wrong one
}

// isCyclic reports whether an alias is within the value of its anchor.
func isCyclic(n *yaml.Node, around []*yaml.Node) bool {
	for _, outer := range around {
		if outer == n {
			return true
		}
	}
	around = append(around, n)
	if n.Kind == yaml.AliasNode {
		return isCyclic(n.Alias, around)
	}
	for _, inner := range n.Content {
		if isCyclic(inner, around) {
			return true
		}
	}
	return false
}
