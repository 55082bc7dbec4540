package resource_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A template is variables and nothing of a language, so that none runs without an end.
func TestHostnameTemplates(t *testing.T) {
	for template, valid := range map[string]bool{
		`{{ .DisplayName }}.{{ .Namespace }}.svc.{{ .Zone }}.mesh`: true,
		`{{ label \"a\" }}.{{ .Name }}.{{ .Mesh }}`:                true,
		`{{ range $i := 1000000000000 }}{{ end }}`:                 false,
		`{{ .Pod }}`:                    false,
		`{{ printf \"%99999999d\" 1 }}`: false,
		`{{ define \"x\" }}{{ template \"x\" }}{{ end }}{{ template \"x\" }}`: false,
	} {
		_, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), resource.Input{Name: "in", Data: []byte(
			`{"type": "HostnameGenerator", "name": "g", "spec": {"selector": {"meshService": {"matchLabels": {}}}, "template": "` + template + `"}}`)})
		if (err == nil) != valid {
			t.Errorf("%s: %v", template, err)
		}
	}
}
