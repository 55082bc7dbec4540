package conf

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Unmarshal reads a document, in YAML or JSON, into the value that target points to, as a
// loader in targetref reads the conf of a policy: a field that the type does not have is an error, and
// the Validate methods are called. The error is a [diag.Errors].
func Unmarshal(document []byte, target any) error {
	var sink diag.Sink
	for d := range strict.Documents("conf", strict.Chunks(document, 1)[0], strict.DefaultLimits, &sink) {
		strict.Decode(d.Root(), target)
	}
	sink.Choose(diag.AsTargetRef)
	return sink.Err()
}
