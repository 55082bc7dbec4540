package meshaccesslog

import (
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks that there are backends; an empty list disables logging.
func (c *Conf) Validate(at *diag.At) { conf.RefuseIdle(at, c) }

// Validate checks that the collector is given in exactly one way.
func (o *OpenTelemetry) Validate(at *diag.At) {
	conf.ValidateCollector(at, o.Endpoint, o.BackendRef)
	if o.Body != nil {
		validateOperators(at.Field("body"), string(*o.Body))
		if strings.HasPrefix(string(*o.Body), `"`) {
			warnOfSeparators(at.Field("body"), string(*o.Body))
		}
	}
}

var attributeName = regexp.MustCompile(`^[a-z][a-z0-9]*([._][a-z0-9]+)*$`)

// Validate checks the key by OpenTelemetry's rules for attribute names.
func (a *Attribute) Validate(at *diag.At) {
	const hint = "use lower-case letters, digits, and . or _ between them, such as mesh.zone"
	switch key := at.Field("key"); {
	case a.Key == "":
		key.Errorf(diag.EmptyValue, "", "must not be empty")
	case strings.HasPrefix(a.Key, "otel."):
		key.Errorf(diag.BadValue, "use another name", "names that begin with otel. are reserved")
	case !attributeName.MatchString(a.Key):
		key.Errorf(diag.BadValue, hint, "bad attribute name %q", a.Key)
	}
	validateOperators(at.Field("value"), a.Value)
}

// Validate checks that the format is not empty.
func (f *Format) Validate(at *diag.At) {
	switch {
	case f.Type == PlainFormat && f.Plain != nil && *f.Plain == "":
		at.Field("plain").Errorf(diag.EmptyValue, "leave the format out for Envoy's own", "must not be empty")
	case f.Type == JSONFormat && f.JSON != nil && len(f.JSON) == 0:
		at.Field("json").Errorf(diag.EmptyValue, "leave the format out for Envoy's own", "must not be empty")
	}
	if f.Plain != nil {
		validateOperators(at.Field("plain"), *f.Plain)
		warnOfSeparators(at.Field("plain"), *f.Plain)
	}
	seen := map[string]bool{}
	for i, field := range f.JSON {
		if seen[field.Key] {
			at.Field("json").Index(i).Field("key").Errorf(diag.DuplicateEntry, "", "duplicate key %q", field.Key)
		}
		seen[field.Key] = true
	}
}

// Validate checks that the field has a name and a value.
func (f *Field) Validate(at *diag.At) {
	if f.Key == "" {
		at.Field("key").Errorf(diag.EmptyValue, "", "must not be empty")
	}
	if f.Value == "" {
		at.Field("value").Errorf(diag.EmptyValue, "", "must not be empty")
	}
	validateOperators(at.Field("value"), f.Value)
}
