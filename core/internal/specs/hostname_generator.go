package specs

import (
	"html/template"
	"io"

	"github.com/meshmatch/meshmatch/core/diag"
)

// HostnameGenerator is the spec of a HostnameGenerator.
//
//confgen:schema
type HostnameGenerator struct {
	Selector HostnameSelector `json:"selector"`
	Template HostnameTemplate `json:"template"`
	// Extension configures a plugin of the control plane that writes the host names.
	Extension *Extension `json:"extension,omitzero"`
}

// HostnameSelector selects destinations of one kind by their labels.
//
//confgen:openapi {"oneOf": [{"required": ["meshService"]}, {"required": ["meshExternalService"]}, {"required": ["meshMultiZoneService"]}]}
type HostnameSelector struct {
	MeshService          *LabelSelector `json:"meshService,omitzero"`
	MeshExternalService  *LabelSelector `json:"meshExternalService,omitzero"`
	MeshMultiZoneService *LabelSelector `json:"meshMultiZoneService,omitzero"`
}

// Validate checks that exactly one kind is given.
func (s *HostnameSelector) Validate(at *diag.At) {
	exactlyOne(at, "the selector", []presence{
		{"meshService", s.MeshService != nil}, {"meshExternalService", s.MeshExternalService != nil}, {"meshMultiZoneService", s.MeshMultiZoneService != nil},
	})
}

// HostnameTemplate is a host name in the syntax of text/template.
//
//confgen:openapi {"minLength": 1}
type HostnameTemplate string

// Validate checks that the template can be executed.
func (t HostnameTemplate) Validate(at *diag.At) {
	const hint = `use {{ .Name }}, {{ .DisplayName }}, {{ .Namespace }}, {{ .Mesh }}, {{ .Zone }} and {{ label "key" }}`
	if t == "" {
		at.Errorf(diag.EmptyValue, hint, "must not be empty")
		return
	}
	filled := struct{ Name, DisplayName, Namespace, Mesh, Zone string }{}
	parsed, err := template.New("hostname").Funcs(template.FuncMap{"label": func(string) string { return "" }}).Parse(string(t))
	if err == nil {
		err = parsed.Execute(io.Discard, filled)
	}
	if err != nil {
		at.Errorf(diag.BadValue, hint, "bad template: %v", err)
	}
}
