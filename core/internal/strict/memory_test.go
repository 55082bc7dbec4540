package strict_test

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Decoded values do not refer to the text of their file.
func TestValuesDoNotKeepTheFile(t *testing.T) {
	for name, text := range map[string]string{
		"JSON": `{"name": "a fruit", "tags": {"ke\u0079": "value"}, "seeds": [1]}`,
		"YAML": "name: a fruit\ntags:\n  key: value\nseeds: [1]\n",

		"YAML in block style": "name: a fruit\ntags:\n  key: value\nseeds:\n- 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			var file weak.Pointer[byte]
			reader := &strict.Reader{Strings: &strict.Strings{}}
			kept := decodeText(t, reader, []byte(text), func(data []byte) { file = weak.Make(&data[0]) })
			for range 10 { // a pool keeps a value for two garbage collections
				runtime.GC()
			}
			if file.Value() != nil {
				t.Error("the file is in memory")
			}
			if kept.Name != "a fruit" || kept.Tags["key"] != "value" {
				t.Errorf("decoded %v", kept)
			}
		})
	}
}

func decodeText(t *testing.T, reader *strict.Reader, data []byte, watch func([]byte)) fruit {
	t.Helper()
	watch(data)
	var sink diag.Sink
	var f fruit
	for doc := range reader.Documents("f", strict.Chunks(data, 1)[0], &sink) {
		strict.Decode(doc.Root(), &f)
	}
	if err := sink.Err(); err != nil {
		t.Fatal(err)
	}
	return f
}

// Equal strings of all readers of a load are one string.
func TestStringsAreKeptOnce(t *testing.T) {
	shared := &strict.Strings{}
	none := func([]byte) {}
	first := &strict.Reader{Strings: shared}
	a := decodeText(t, first, []byte(`{"name": "apple", "tags": {"apple": "apple", "long": "`+strings.Repeat("x", 1000)+`"}}`), none)
	b := decodeText(t, first, []byte("name: apple\n"), none)
	c := decodeText(t, &strict.Reader{Strings: shared}, []byte(`{"name": "\u0061pple"}`), none)
	for _, other := range []string{a.Tags["apple"], b.Name, c.Name} {
		if other != "apple" || unsafe.StringData(other) != unsafe.StringData(a.Name) {
			t.Errorf("%q is another string", other)
		}
	}
}
