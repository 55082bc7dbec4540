package strict

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/diag"
)

var scanLimits = Limits{Depth: 6, Nodes: 40}

// readParts returns the parts of the first document of a text, as the scanner or as the
// tokens have them, and the offset of its end; nil: the reader does not read it.
func readParts(text string, scan bool) ([]part, int) {
	var sink diag.Sink
	r := &Reader{Limits: scanLimits}
	r.json.reset(&source{reader: r, piece: Chunk{data: []byte(text)}, sink: &sink})
	if scan {
		if end := r.json.jsonScanner.document(r.json.skipped); end >= 0 {
			return r.json.parts, end
		}
		return nil, 0
	}
	r.json.readTokens()
	if err := r.json.tokenized(); err != nil {
		return nil, 0
	}
	return r.json.parts, r.json.offset()
}

var scanned = []string{
	`{}`, ` { } `, `{"":""}`, "{\n\t\"a\" : [ ] ,\r\n \"b\":{ }\n}\n", `---{"a":1}`,
	`{"a":[1,-2,0,-0,10,1.5,-0.25,1e3,1E+3,2.5e-7,123456789012345678901234567890]}`,
	`{"a":[true,false,null],"b":{"c":[[],[{}]]}}`,
	`{"a":"\"\\\/\b\f\n\r\t","\u00e4":"\uD7FF\uE000\uffff\u0000"}`,
	`{"a":"ä😀` + "\u007f" + `","a":"twice","12345678":"87654321","1234567":"` + strings.Repeat("x", 100) + `"}`,
	`{"a":1}{"b":2}`, `{"a":1} x`, `{"a":[1]},`,
	`{"a":{"a":{"a":{"a":{"a":{}}}}}}`,
	`{"a":[` + strings.Repeat("1,", 36) + `1]}`,
}

// notScanned are texts that are invalid, beyond the limits, or too rare for the scanner.
var notScanned = []string{
	``, ` `, `x`, `[]`, `"a"`, `1`, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `{"a" 1}`, `{a:1}`, `{1:1}`, `{"a":}`,
	`{"a":[}`, `{"a":[1}`, `{"a":[,]}`, `{"a":[1,]}`, `{"a":[1 2]}`, `{"a":1]`, `{]`, `{"a":01}`, `{"a":-}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`, `{"a":--1}`, `{"a":1x}`,
	`{"a":tru}`, `{"a":True}`, `{"a":nul`, `{"a":nulll}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u12`, `{"a":"\`, `{"a":"` + "\n" + `"}`, `{"a":"` + "\x00" + `"}`, `{"a":"` + "\xff" + `"}`,
	`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `{"a":'b'}`, "\ufeff{}", "{\u00a0}", `{"a":1,"b"}`, `{"a"::1}`, `{"a":1;"b":2}`,
	`{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}`,
	`{"a":[` + strings.Repeat("1,", 37) + `1]}`,
}

// FuzzScan reads JSON with the scanner and with the tokens of package jsontext: what the
// scanner reads has the same parts and the same end.
//
//fuzz:executions 100000
func FuzzScan(f *testing.F) {
	for _, text := range slices.Concat(scanned, notScanned, sameByBoth) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, end := readParts(text, true)
		if got == nil {
			t.Skip()
		}
		want, wantEnd := readParts(text, false)
		if end != wantEnd || !slices.Equal(got, want) {
			t.Errorf("ends at %d, want %d; -tokens +scanner: %s", end, wantEnd, cmp.Diff(want, got, cmp.AllowUnexported(part{})))
		}
	})
}

// The scanner reads the usual documents, and no invalid one.
func TestScan(t *testing.T) {
	for _, text := range scanned {
		got, end := readParts(text, true)
		want, wantEnd := readParts(text, false)
		if got == nil || end != wantEnd || !slices.Equal(got, want) {
			t.Errorf("%s: ends at %d, want %d; -tokens +scanner: %s", text, end, wantEnd, cmp.Diff(want, got, cmp.AllowUnexported(part{})))
		}
	}
	for _, text := range notScanned {
		if got, _ := readParts(text, true); got != nil {
			t.Errorf("%s is read", text)
		}
	}
	// An end in the middle of a document is never its end.
	for _, text := range scanned {
		for end := range strings.TrimRight(text, " \n") {
			got, _ := readParts(text[:end], true)
			want, _ := readParts(text[:end], false)
			if !slices.Equal(got, want) {
				t.Errorf("%s: read as %d parts, want %d", text[:end], len(got), len(want))
			}
		}
	}
}

// Documents before and after one that the scanner does not read are read.
func TestScannedAndTokenized(t *testing.T) {
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
