package strict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

type fruit struct {
	Name   string            `json:"name"`
	Colour colour            `json:"colour,omitzero" alias:"color"`
	Weight *uint8            `json:"weight,omitzero"`
	Ripe   *bool             `json:"ripe,omitzero"`
	Tags   map[string]string `json:"tags,omitzero"`
	Seeds  []int32           `json:"seeds,omitzero"`
	Pack   *pack             `json:"pack,omitzero"`
	Size   float64           `json:"size,omitzero"`
}

type colour string

func (colour) Enum() []string { return []string{"red", "green"} }

// pack is a union: a box or a bag, with a lid on either.
type pack struct {
	Type packType `json:"type" policyMerge:"discriminator"`
	Box  *box     `json:"box,omitzero"`
	Bag  *bag     `json:"bag,omitzero"`
	Lid  *bool    `json:"lid,omitzero"`
}

type packType string

func (packType) Enum() []string { return []string{"Box", "Bag"} }

type box struct {
	Size uint32 `json:"size"`
}

type bag struct{}

func (f *fruit) Validate(at *diag.At) {
	if f.Name == "stone" {
		at.Field("name").Errorf(diag.BadValue, "eat something else", "is no fruit")
	}
}

// decode returns the decoded value of a file and its errors, one per line.
func decode(t *testing.T, text string) ([]fruit, string) {
	t.Helper()
	var sink diag.Sink
	var out []fruit
	for _, chunk := range strict.Chunks([]byte(text), 3) {
		for doc := range strict.Documents("f.yaml", chunk, strict.DefaultLimits, &sink) {
			var f fruit
			if strict.Decode(doc.Root(), &f) {
				out = append(out, f)
			}
		}
	}
	if err := sink.Err(); err != nil {
		return out, err.Error()
	}
	return out, ""
}

func TestDecodeErrors(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"unknown field":       {"nmae: fig\nname: fig", `f.yaml:1:1: nmae: unknown field; did you mean "name"?`},
		"missing field":       {"ripe: true", `f.yaml:1:1: name: required field is missing`},
		"duplicate field":     {"name: fig\nname: kiwi", `f.yaml:2:1: duplicate field "name"; it is in line 1 already`},
		"duplicate alias":     {"name: fig\ncolour: red\ncolor: red", `f.yaml:3:1: color: duplicate field: the same as "colour"`},
		"null":                {"name: fig\nripe: ~", `f.yaml:2:7: ripe: must not be null; leave the field out instead`},
		"number for string":   {"name: 7", `f.yaml:1:7: name: must be a string, not the number 7; write it in quotes: "7"`},
		"mapping for string":  {"name: {a: b}", `f.yaml:1:7: name: must be a string, not a mapping`},
		"string for number":   {"name: fig\nweight: heavy", `f.yaml:2:9: weight: must be a whole number, not the string "heavy"`},
		"out of range":        {"name: fig\nweight: 300", `f.yaml:2:9: weight: 300 is out of range (uint8)`},
		"enum word":           {"name: fig\ncolour: grean", `f.yaml:2:9: colour: unknown value "grean"; did you mean "green"?`},
		"element":             {"name: fig\nseeds: [1, x]", `f.yaml:2:12: seeds[1]: must be a whole number, not the string "x"`},
		"map value":           {"name: fig\ntags: {a.b: 1}", `f.yaml:2:13: tags["a.b"]: must be a string, not the number 1; write it in quotes: "1"`},
		"number as a name":    {"name: fig\ntags: {1: a}", `f.yaml:2:8: tags: a field's name must be a string, not the number 1; write it in quotes: "1"`},
		"merge key":           {"name: fig\ntags: {<<: {a: b}}", `f.yaml:2:8: tags: merge keys (<<) are not supported; write the fields out`},
		"list for mapping":    {"- name: fig", `f.yaml:1:1: must be a mapping, not a list`},
		"validator":           {"name: stone", `f.yaml:1:7: name: is no fruit; eat something else`},
		"other arm":           {"name: fig\npack: {type: Bag, box: {size: 1}}", `f.yaml:2:24: pack.box: is not allowed with type "Bag"; remove it or change the type`},
		"missing arm":         {"name: fig\npack: {type: Box}", `f.yaml:2:7: pack.box: is required for type "Box"`},
		"template":            {"name: {{ .Name }}-{{ .Kind }}", `f.yaml:1:19: bad YAML: did not find expected key; it is a template: give its output, such as that of helm template`},
		"conflict":            {"name: fig\n<<<<<<< HEAD\ntags: {}\n=======\n", `f.yaml:2:1: bad YAML: could not find expected ':'; it is a mark of git: resolve the conflict`},
		"tab":                 {"name: fig\ntags:\n\ta: b", `f.yaml:3:1: bad YAML: found character that cannot start any token; indent by spaces: YAML allows no tabs there`},
		"syntax":              {"name: [fig", `f.yaml:1:8: bad YAML: did not find expected ',' or ']'; check indentation and quotes`},
		"cycle":               {"name: fig\ntags: &a {b: *a}", `f.yaml:2:14: the anchor "a" contains itself; write the value out`},
		"tag":                 {"name: !x fig\ntags: !!set {a: b}\nseeds: !y\n- 1", "f.yaml:1:7: name: the tag has no meaning here; remove it\nf.yaml:2:7: tags: the tag has no meaning here; remove it\nf.yaml:3:8: seeds: the tag has no meaning here; remove it"},
		"no word of YAML":     {"name: fig\nripe: \"t\"", `f.yaml:2:7: ripe: must be true or false, not the string "t"`},
		"true in quotes":      {"name: fig\nripe: \"true\"", `f.yaml:2:7: ripe: must be true or false, not the string "true"; write it without quotes: true`},
		"numbers of YAML 1.1": {"name: fig\nweight: 1_0\nripe: yes", "f.yaml:2:9: weight: must be a whole number, not the string \"1_0\"; write 10, as which YAML 1.1 reads it\nf.yaml:3:7: ripe: must be true or false, not the string \"yes\"; write true, as which YAML 1.1 reads it"},
		"number in quotes":    {"name: fig\nweight: \"0x10\"\nseeds: [\"1.5\"]", "f.yaml:2:9: weight: must be a whole number, not the string \"0x10\"; write it without quotes: 0x10\nf.yaml:3:9: seeds[0]: must be a whole number, not the string \"1.5\""},
		"infinity":            {"name: fig\nsize: .inf", `f.yaml:2:7: size: must be a finite number, not the number .inf`},
		"second document":     {"name: fig\n---\nname: kiwi\n---\nnme: x\nname: pear", `f.yaml:5:1: nme: unknown field; did you mean "name"?`},
		"tabs in JSON":        {"{\n\t\"name\": \"fig\",\n\t\"ripe\": 1\n}", `f.yaml:3:10: ripe: must be true or false, not the number 1`},
		"second JSON":         {`{"name": "fig"} {"name": 1}`, `f.yaml:1:26: name: must be a string, not the number 1; write it in quotes: "1"`},
		"JSON cut off":        {`{"name": "fig", "seeds": [1`, `f.yaml:1:28: bad JSON: unexpected EOF; check commas, quotes and brackets`},
	} {
		t.Run(name, func(t *testing.T) {
			_, got := decode(t, c.in)
			// The parser's wording of syntax errors may change, but not their
			// positions.
			if strings.HasSuffix(c.want, "check indentation and quotes") {
				place := strings.Join(strings.SplitN(c.want, ":", 4)[:3], ":")
				if !strings.HasPrefix(got, place) || !strings.HasSuffix(got, "check indentation and quotes") {
					t.Errorf("got %q, want an error at %s", got, place)
				}
				return
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDecodeAllErrorsAtOnce(t *testing.T) {
	_, got := decode(t, "name: 1\ncolour: blue\nweight: -1\n---\nripe: maybe\n")
	want := []string{"f.yaml:1:7: name", "f.yaml:2:9: colour", "f.yaml:3:9: weight", "f.yaml:5:1: name", "f.yaml:5:7: ripe"}
	lines := strings.Split(got, "\n")
	if len(lines) != len(want) {
		t.Fatalf("got %d errors, want %d:\n%s", len(lines), len(want), got)
	}
	for i := range want {
		if !strings.HasPrefix(lines[i], want[i]) {
			t.Errorf("error %d is %s, want it at %s", i, lines[i], want[i])
		}
	}
}

func TestDecodeKeepsEmptyApartFromUnset(t *testing.T) {
	got, errs := decode(t, "name: fig\nseeds: []\ntags: {}\n---\nname: kiwi\ncolor: red\n")
	if errs != "" {
		t.Fatal(errs)
	}
	want := []fruit{{Name: "fig", Seeds: []int32{}, Tags: map[string]string{}}, {Name: "kiwi", Colour: "red"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Numbers follow YAML 1.2's core schema.
func TestNumbers(t *testing.T) {
	for in, want := range map[string]uint8{"7": 7, "+7": 7, "0x1F": 31, "0o17": 15, "017": 17, "!!int \"7\"": 7} {
		got, errs := decode(t, "name: fig\nweight: "+in+"\nsize: "+in)
		if errs != "" || *got[0].Weight != want || got[0].Size != float64(want) {
			t.Errorf("%s: got %v %s, want %d", in, got, errs, want)
		}
	}
}

func TestEscapesInJSON(t *testing.T) {
	got, errs := decode(t, `{"name": "f\u0069g", "tags": {"\u0061": "\u00e4\n", "b": "\u0063"}}`)
	want := []fruit{{Name: "fig", Tags: map[string]string{"a": "ä\n", "b": "c"}}}
	if diff := cmp.Diff(want, got); diff != "" || errs != "" {
		t.Error(diff, errs)
	}
}

func TestAliasesAreWrittenOut(t *testing.T) {
	got, errs := decode(t, "name: &n fig\ntags: {a: *n}\n")
	if errs != "" || got[0].Tags["a"] != "fig" {
		t.Errorf("got %v %s", got, errs)
	}
}

// A file is split for parallel work where documents begin. The documents and
// their positions are the same for every split.
func TestChunksDoNotChangeWhatIsRead(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "--- # fruit %d\nname: fruit-%d\ntags:\n  text: |\n    first line\n     ---\n    last line\nbad%d: 1\n", i, i, i)
	}
	text := b.String()
	read := func(n int) string {
		var sink diag.Sink
		for _, chunk := range strict.Chunks([]byte(text), n) {
			for doc := range strict.Documents("f.yaml", chunk, strict.DefaultLimits, &sink) {
				strict.Decode(doc.Root(), &fruit{})
			}
		}
		return sink.Err().Error()
	}
	whole := read(1)
	if got := strings.Count(whole, "\n") + 1; got != 50 {
		t.Fatalf("got %d errors, want 50", got)
	}
	for _, n := range []int{2, 3, 7, 50, 200} {
		if cut := read(n); cut != whole {
			t.Errorf("cut into %d: got\n%s\nwant\n%s", n, cut, whole)
		}
	}
	if n := len(strict.Chunks([]byte(text), 7)); n != 7 {
		t.Errorf("cut into %d chunks, want 7", n)
	}
}

func TestLimits(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'k'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c, ", c-1), 10), ", "))
	}
	for name, c := range map[string]struct{ in, want string }{
		"alias expansion": {bomb, "f.yaml:7:8: aliases add more than 2000000 values; split the document"},
		"depth":           {"name: " + strings.Repeat("[", 500) + strings.Repeat("]", 500), "nested deeper than 100 levels"},
		"levels of JSON":  {`{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "}", "nested deeper than 100 levels"},
		"JSON depth":      {`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}", "f.yaml:1"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, got := decode(t, c.in); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want it to have %q", got, c.want)
			}
		})
	}
}
