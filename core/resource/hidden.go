package resource

import (
	"regexp"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// keyPath matches the path of a key or certificate, or of a part of one. A field `key` has the name
// of an attribute, a tag or a header.
var keyPath = regexp.MustCompile(`(?i)(private|client)key|cert|pem\b|\.?ca\.|\binline|insecureInline|secret`)

// hideKeys removes texts of the document from the diagnostics since the counts that are about a
// Secret, or about a key: logs and pages show diagnostics.
func (d *decoder) hideKeys(in *strict.Value, since [3]int) {
	secret := in.FieldText("type") == SecretKind || in.FieldText("kind") == SecretKind || in.FieldText("type") == SecretType
	d.sink.Hide(since, func(e *diag.Diagnostic) bool { return secret || keyPath.MatchString(e.Path) })
}
