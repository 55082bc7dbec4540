package resource

import (
	"regexp"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// The paths of values that may be a key or a certificate.
var (
	// keyPlace matches them in a resource that is not a Secret: a text in the document, and the
	// source that it is a field of, for which the text may be written by mistake. The name of a
	// Secret or file is none, nor is the key of a tag or attribute.
	keyPlace = regexp.MustCompile(`(?i)(?:^|\.)(?:` +
		`(?:inline|inlineString|insecureInline(?:\.value)?|pem(?:\.value)?)` +
		`|(?:clientKey|clientCert|caCert|ca|ca\.privateKey|ca\.certificate|conf\.key|conf\.cert|certificates\[\d+\])(?:\.type)?` +
		`)$`)
	// secretPlace matches them in a Secret. Its annotations may have a copy of its data, and an
	// error of the whole document may have any part of it.
	secretPlace = regexp.MustCompile(`^$|(?:^|\.)(?:data|stringData|annotations)(?:$|[.\[])`)
)

// sourceTypes are the types of sources of keys, which are no part of a key.
var sourceTypes = slices.Concat(specs.CertificateType("").Enum(), spiffe.DataSourceType("").Enum(), spiffe.CABundleType("").Enum())

// hideKeys removes values of the document from the diagnostics since the counts that are about
// a place of keys: logs and pages show diagnostics. Names of fields stay.
func (d *decoder) hideKeys(in *strict.Value, since [3]int) {
	place := keyPlace
	if in.FieldText("type") == SecretKind || in.FieldText("kind") == SecretKind || in.FieldText("type") == SecretType {
		place = secretPlace
	}
	d.sink.Hide(since, sourceTypes, func(e *diag.Diagnostic) bool {
		return e.Code != diag.DuplicateEntry && e.Code != diag.UnknownField && place.MatchString(e.Path)
	})
}
