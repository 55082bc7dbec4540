package strict

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// released has a field for each way in which a value is decoded.
type released struct {
	Name    string            `json:"name"`
	Port    uint16            `json:"port"`
	Ready   bool              `json:"ready"`
	Weight  *float64          `json:"weight"`
	Labels  map[string]string `json:"labels"`
	Tags    pairs             `json:"tags"`
	Numbers []int             `json:"numbers"`
	Any     any               `json:"any"`
	Items   []pairs           `json:"items"`
}

// pairs are the entries of a mapping.
type pairs []Entry

func (p *pairs) SetEntries(entries []Entry) { *p = append(pairs{}, entries...) }

// Nothing that was decoded refers to the memory of its document, and neither do errors: when
// it is overwritten after its release, all is as before, and the next document that uses the
// memory is read correctly. Large documents have their memory from a pool.
func TestReleasedMemoryIsNotReachable(t *testing.T) {
	for _, items := range []int{2, minTaken} {
		for form, text := range map[string]string{
			"JSON": `{"name": "a", "port": 80, "ready": true, "weight": 1.5, "labels": {"x": "y"}, "tags": {"k": "v\u0041"}, ` +
				`"numbers": [1, "no"], "any": {"b": [1, {"c": null}]}, "items": [` + strings.Repeat(`{"i": "j"}, `, items) + `{"i": 1}]}`,
			"YAML": "name: a\nport: 80\nready: true\nweight: 1.5\nlabels: {x: y}\ntags:\n  k: vA\n" +
				"numbers: [1, no]\nany:\n  b:\n  - 1\n  - c: d\nitems:\n" + strings.Repeat("- i: j\n", items) + "- i: 1\n",
		} {
			t.Run(fmt.Sprintf("%s/items=%d", form, items), func(t *testing.T) {
				reader := &Reader{}
				var want released
				_, wantErrors := decodeReleased(reader, text, &want, func(*Document) {})
				for range 3 {
					var got released
					decoded, errors := decodeReleased(reader, text, &got, overwrite)
					if decoded != 1 || errors != wantErrors || !reflect.DeepEqual(got, want) {
						t.Fatalf("%d documents:\n%.300v\n%.300s\nwant\n%.300v\n%.300s", decoded, got, errors, want, wantErrors)
					}
				}
				if want.Name != "a" || want.Tags[0] != (Entry{"k", "vA"}) || len(want.Items) != items+1 || strings.Count(wantErrors, "\n") < 1 {
					t.Fatalf("decoded %.300v\n%.300s", want, wantErrors)
				}
			})
		}
	}
}

// decodeReleased decodes the documents of a text into out, and calls release after each of
// them. It returns the number of documents and their errors.
func decodeReleased(reader *Reader, text string, out *released, release func(*Document)) (n int, errors string) {
	var sink diag.Sink
	for doc := range reader.Documents("f", Chunks([]byte(text), 1)[0], &sink) {
		Decode(doc.Root(), out)
		release(doc)
		n++
	}
	return n, fmt.Sprint(sink.Err())
}

// overwrite releases a document and overwrites its memory.
func overwrite(doc *Document) {
	parts, values := doc.text.parts, doc.values[:cap(doc.values)]
	doc.Release()
	for i := range parts {
		parts[i] = part{begin: -1, end: -1, parts: -1}
	}
	for i := range values {
		values[i] = Value{}
	}
}
