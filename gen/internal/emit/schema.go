package emit

import (
	"bytes"
	"fmt"
	"go/format"
	"strings"
)

// Schema is the schema of a type, as JSON.
type Schema struct {
	Type string
	JSON []byte
}

// SchemaFile returns the file with the methods Schema of a package, gofmt'd.
func SchemaFile(pkg string, schemas []Schema) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\npackage %s\n", Header, pkg)
	for _, s := range schemas {
		fmt.Fprintf(&b, "\n// Schema returns the structural OpenAPI schema of a %s, as JSON.\nfunc (*%s) Schema() string {\n\treturn ", s.Type, s.Type)
		// In JSON, a backquote can be written without one.
		fmt.Fprintf(&b, "`%s`\n}\n", strings.ReplaceAll(string(s.JSON), "`", `\u0060`))
	}
	return format.Source(b.Bytes())
}
