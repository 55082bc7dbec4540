package template_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/template"
)

func TestParts(t *testing.T) {
	for template, want := range map[template.Template][]template.Piece{
		"":                       nil,
		"a":                      {{Text: "a"}},
		"{{ .Mesh }}":            {{Variable: "Mesh"}},
		"/{{.Name}}-{{ .Zone }}": {{Text: "/"}, {Variable: "Name"}, {Text: "-"}, {Variable: "Zone"}},
		`{{ label "a.b/c" }}x`:   {{Label: "a.b/c"}, {Text: "x"}},
		"{{ .Namespace }}{{ .ServiceAccount -}} b": {{Variable: "Namespace"}, {Variable: "ServiceAccount"}, {Text: "b"}},
	} {
		got, err := template.Parts()
		if err != nil {
			t.Errorf("%s: %v", template, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", template, diff)
		}
	}
}

// The rest of the syntax is an error, so that no template loops.
func TestTemplateRejects(t *testing.T) {
	for _, template := range []template.Template{
		"{{", "{{ . }}", "{{ .Pod }}", "{{ .Mesh.Name }}", "{{ .Mesh .Zone }}", "{{ $x := .Mesh }}", "{{ label }}", `{{ label "" }}`, "{{ label .Mesh }}",
		`{{ label "a" "b" }}`, `{{ printf "%99d" 1 }}`, "{{ range 10 }}a{{ end }}", "{{ if .Mesh }}a{{ end }}", `{{ .Mesh | label }}`, `{{ "text" }}`, `{{ template "x" }}`, template.Template(strings.Repeat("a", 4097)),
	} {
		if parts, err := template.Parts(); err == nil {
			t.Errorf("%s: got %v", template, parts)
		}
	}
}

func TestValidate(t *testing.T) {
	const hint = `; variables are {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }}, {{ .Name }}, {{ .ServiceAccount }}, {{ .Workload }} and {{ label "key" }}`
	for text, want := range map[string]string{
		"{{ .Mesh }}.mesh.local": "",
		"":                       "",
		"{{ .Pod }}":             "t: bad template: {{.Pod}}: not one of the variables" + hint,
	} {
		var sink diag.Sink
		template.Template(text).Validate(diag.Root(diag.GoValue("t"), &sink))
		got := ""
		if err := sink.Err(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
