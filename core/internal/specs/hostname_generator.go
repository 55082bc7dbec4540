package specs

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/template"
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

// hostnameVariables are the variables of a [HostnameTemplate].
var hostnameVariables = []string{"Name", "DisplayName", "Namespace", "Mesh", "Zone"}

// Validate checks the syntax.
func (t HostnameTemplate) Validate(at *diag.At) {
	const hint = `use {{ .Name }}, {{ .DisplayName }}, {{ .Namespace }}, {{ .Mesh }}, {{ .Zone }} and {{ label "key" }}`
	if t == "" {
		at.Errorf(diag.EmptyValue, hint, "must not be empty")
		return
	}
	if _, err := template.Parse(string(t), hostnameVariables); err != nil {
		at.Errorf(diag.BadValue, hint, "bad template: %v", err)
	}
}
