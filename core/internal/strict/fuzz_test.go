package strict

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/diag"
)

// shapes has a field of each form that can be decoded.
type shapes struct {
	Text     string            `json:"text"`
	Other    word              `json:"other,omitzero" alias:"second"`
	Flag     *bool             `json:"flag,omitzero"`
	Integer  *int8             `json:"integer,omitzero"`
	Natural  uint64            `json:"natural,omitzero"`
	Decimal  *float32          `json:"decimal,omitzero"`
	List     []shapes          `json:"list,omitzero"`
	Mapping  map[string]*int16 `json:"mapping,omitzero"`
	Strings  map[string]string `json:"strings,omitzero"`
	Entries  entryTexts        `json:"entries,omitzero"`
	Anything any               `json:"anything,omitzero"`
	Union    *union            `json:"union,omitzero"`
	Later    *Value            `json:"later,omitzero"`
	Unused   *Value            `json:"unused,omitzero"`
}

type word string

func (word) Enum() []string { return []string{"one", "two"} }

type union struct {
	Type word    `json:"type" policyMerge:"discriminator"`
	One  *shapes `json:"one,omitzero"`
	Two  *bool   `json:"two,omitzero"`
}

type entryTexts []string

func (e *entryTexts) SetEntries(entries []Entry) {
	*e = entryTexts{}
	for _, entry := range entries {
		*e = append(*e, entry.Name+"="+entry.Value)
	}
}

func (e entryTexts) Validate(at *diag.At) {
	for _, text := range e {
		name, _, _ := strings.Cut(text, "=")
		if strings.Contains(name, "0") {
			at.Name(name).Errorf(diag.BadValue, "", "has a zero")
		}
	}
}

// Validate reports errors at fields that are there and at others.
func (s *shapes) Validate(at *diag.At) {
	if s.Text == "bad" {
		at.Field("text").Errorf(diag.BadValue, "", "is bad")
		at.Name("list").Errorf(diag.BadValue, "", "is in bad company")
		at.Field("list").Index(1).Field("text").Errorf(diag.BadValue, "", "is next to a bad one")
	}
	if s.Later != nil {
		var later shapes
		Decode(s.Later, &later)
		s.Union, s.Later = &union{One: &later}, nil
	}
	if s.Unused != nil {
		Skim(s.Unused)
		s.Text += strings.Join(s.Unused.Names(), " ") + s.Unused.Field("text").Text() + s.Unused.Pos().String()
		s.Unused = nil
	}
}

// read decodes the documents of a text by one of the readers.
func read(text string, reader func(*source, func(*Document) bool)) ([]shapes, string) {
	return readWithin(Limits{Depth: 20, Nodes: 2000}, text, reader)
}

func readWithin(limits Limits, text string, reader func(*source, func(*Document) bool)) ([]shapes, string) {
	var sink diag.Sink
	r := &Reader{Limits: limits}
	r.init()
	s := source{reader: r, measurer: &measurer{limits: r.Limits}, file: "f", piece: Chunk{data: []byte(text), firstLine: 2}, sink: &sink}
	var out []shapes
	reader(&s, func(doc *Document) bool {
		var v shapes
		Decode(doc.Root(), &v)
		out = append(out, v)
		doc.Release()
		return true
	})
	if err := sink.Err(); err != nil {
		return out, err.Error()
	}
	return out, ""
}

func readJSON(s *source, yield func(*Document) bool) {
	if done, bad := s.json(yield); !done {
		s.report(bad)
	}
}

func readYAML(s *source, yield func(*Document) bool) { s.yaml(yield, true) }

var sameByBoth = []string{
	`{"text": "a", "other": "one", "flag": true, "integer": -128, "natural": 18446744073709551615, "decimal": 1.5e3}`,
	`{"text": 1, "second": "ones", "flag": "true", "integer": 128, "natural": -1, "decimal": "1"}`,
	`{"text": "bad", "list": [{"text": "a"}, {"text": "b"}], "x": 1, "x": 2}`,
	`{"list": [{}, 1, null, {"text": "a", "text": "b"}], "list": []}`,
	`{"text": "\u00e4\n\"\\", "mapping": {"a": 1, "a.b": "c", "a": 2}, "strings": {"a": "b", "c": 1, "d": null}}`,
	`{"text": "", "entries": {"b": "c", "a": "d", "0": "e", "x": {}}, "anything": {"a": [1, -1, 1.5, null, true, "b", {}], "a": 1}}`,
	`{"text": "a", "union": {"type": "one", "two": true}, "union": null}`,
	`{"te\u0078t": "a", "text": "b", "te\u0078t": "c", "text": "d", "n\u006de": 1, "list": [], "l\u0069st": [], "second": "one", "other": "two", "other": "one"}`,
	`{"text": "a", "union": {"type": "three", "one": {}}, "other": "two", "second": "one"}`,
	"{\"text\": 1,\r\"second\": \"ones\",\r\n\"flag\": \"true\",\n\r\"integer\": 128}",
	"{\n \"text\": \"a\",\n \"later\": {\n  \"text\": 1\n },\n \"unused\": {\"a\": {\"b\": null},\n \"text\": \"c\"}}",
	`{"text": "ä😀", "nme": 1, "natural": 1e3, "integer": 1.0, "decimal": 1e99}`,
	`{"text": "a", "anything": [1e400, 99999999999999999999, -0, 0.0, ""]}`,
	`{"text": {"text": []}, "flag": {}, "integer": [], "strings": "a", "list": {}, "union": []}`,
	`{"text": "a", "anything": [[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]}`,
}

// FuzzDecode reads JSON by the reader of JSON and by the reader of YAML, of
// which JSON is a subset but for few spellings: values and errors are the same.
//
//fuzz:executions 85000
func FuzzDecode(f *testing.F) {
	for _, text := range sameByBoth {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !looksLikeJSON([]byte(text)) || !utf8.ValidString(text) || strings.ContainsAny(text, "\u0085\u2028\u2029") {
			t.Skip() // the parser of YAML takes the three characters as line breaks, as YAML 1.1 does
		}
		asJSON, errsJSON := read(text, readJSON)
		asYAML, errsYAML := read(text, readYAML)
		if isOtherText(errsJSON) || isOtherText(errsYAML) {
			t.Skip()
		}
		if errsJSON != errsYAML {
			t.Errorf("errors of JSON\n%s\nof YAML\n%s", errsJSON, errsYAML)
		}
		if !reflect.DeepEqual(asJSON, asYAML) {
			t.Errorf("-JSON +YAML: %s", cmp.Diff(asJSON, asYAML))
		}
	})
}

// isOtherText reports whether a text is not in both languages, or its length is
// limited in one.
func isOtherText(errs string) bool {
	for _, what := range []string{": bad JSON: ", ": bad YAML: ", " values", ": nested deeper", "merge keys"} {
		if strings.Contains(errs, what) {
			return true
		}
	}
	return false
}

// The seeds of FuzzDecode are texts of both languages.
func TestSeedsAreBothLanguages(t *testing.T) {
	for i, text := range sameByBoth[:len(sameByBoth)-1] {
		for name, reader := range map[string]func(*source, func(*Document) bool){"JSON": readJSON, "YAML": readYAML} {
			if out, errs := read(text, reader); isOtherText(errs) || len(out) != 1 {
				t.Errorf("seed %d as %s: %d documents, %s", i, name, len(out), errs)
			}
		}
	}
}

// An error is located in its document, even after a document with a surrogate pair.
func TestDocumentsOfOneLine(t *testing.T) {
	const face = `{"text": "\ud83d\ude00"}`
	out, errs := read(`{"text": "a"} {"text": "b"}`+face+`{"text": 1} {"text": "c",}`, readJSON)
	var texts []string
	for _, s := range out {
		texts = append(texts, s.Text)
	}
	if want := []string{"a", "b", "😀", ""}; !slices.Equal(texts, want) {
		t.Errorf("read %q, want %q", texts, want)
	}
	want := "f:3:61: text: must be a string, not the number 1; write it in quotes: \"1\"\nf:3:77: bad JSON: '}' after a comma; check commas, quotes and brackets"
	if errs != want {
		t.Errorf("errors\n%s\nwant\n%s", errs, want)
	}
}
