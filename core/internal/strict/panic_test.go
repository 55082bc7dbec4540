package strict

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// A panic of a reader becomes an error at the text. A panic of the caller does not.
func TestPanicOfReader(t *testing.T) {
	var sink diag.Sink
	text := source{file: "f", piece: Chunk{data: []byte("a: b\n"), firstLine: 6}, sink: &sink} // without a reader
	if all := text.documents(func(*Document) bool { t.Error("a document"); return true }); !all {
		t.Error("the rest of the file is not read")
	}
	const want = "f:7:1: the document cannot be read: internal error: runtime error: invalid memory address or nil pointer dereference; report this with the document"
	if err := sink.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	defer func() {
		if fault := recover(); fault != "of the caller" {
			t.Errorf("got the panic %v", fault)
		}
	}()
	for range Documents("f", Chunk{data: []byte("a: b\n")}, DefaultLimits, &sink) {
		panic("of the caller")
	}
}
