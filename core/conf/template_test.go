package conf_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/conf"
)

func TestTemplateParts(t *testing.T) {
	for template, want := range map[conf.Template][]conf.TemplatePart{
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
	for _, template := range []conf.Template{
		"{{", "{{ . }}", "{{ .Pod }}", "{{ .Mesh.Name }}", "{{ .Mesh .Zone }}", "{{ $x := .Mesh }}", "{{ label }}", `{{ label "" }}`, "{{ label .Mesh }}",
		`{{ label "a" "b" }}`, `{{ printf "%99d" 1 }}`, "{{ range 10 }}a{{ end }}", "{{ if .Mesh }}a{{ end }}", `{{ .Mesh | label }}`, `{{ "text" }}`, `{{ template "x" }}`,
	} {
		if parts, err := template.Parts(); err == nil {
			t.Errorf("%s: got %v", template, parts)
		}
	}
}

func TestTemplateValidate(t *testing.T) {
	const hint = `; variables are {{ .Mesh }}, {{ .Zone }}, {{ .Namespace }}, {{ .Name }}, {{ .ServiceAccount }}, {{ .Workload }} and {{ label "key" }}`
	check[conf.Template](t, cases{
		`'{{ .Mesh }}.mesh.local'`: `"{{ .Mesh }}.mesh.local"`,
		`""`:                       `""`,
		`'{{ .Pod }}'`:             `f:1:1: bad template: {{.Pod}}: not one of the variables` + hint,
	})
}
