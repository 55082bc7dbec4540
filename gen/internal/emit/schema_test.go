package emit_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/gen/internal/emit"
)

// The methods return the parts of the embedded file that are the schemas of their types.
func TestSchemaFiles(t *testing.T) {
	schemas := []emit.Schema{
		{Type: "Conf", JSON: []byte("{\n  \"type\": \"object\"\n}")},
		{Type: "Name", JSON: []byte("{\"description\": \"`é`\", \"type\": \"string\"}")},
	}
	data, code, err := emit.SchemaFiles("conf", "schema.json", schemas)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(data, &all); err != nil || len(all) != 3 || !strings.HasPrefix(string(data), emit.SchemaHeader) {
		t.Errorf("%d parts, %v:\n%s", len(all), err, data)
	}
	if !strings.HasPrefix(string(code), emit.Header) || !strings.Contains(string(code), "\n//go:embed schema.json\n") {
		t.Errorf("got\n%s", code)
	}
	methods := regexp.MustCompile(`func \(\*(\w+)\) Schema\(\) string { return \w+(\[\d+:\d+\]) }`).FindAllStringSubmatch(string(code), -1)
	if len(methods) != len(schemas) {
		t.Fatalf("%d methods:\n%s", len(methods), code)
	}
	for i, method := range methods {
		var start, end int
		if _, err := fmt.Sscanf(method[2], "[%d:%d]", &start, &end); err != nil {
			t.Fatal(err)
		}
		if method[1] != schemas[i].Type || string(data[start:end]) != string(schemas[i].JSON) {
			t.Errorf("%s has %s", method[1], data[start:end])
		}
	}
}
