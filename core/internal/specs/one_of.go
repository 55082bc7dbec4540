package specs

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// presence is a field of a mapping, and whether it is present.
type presence struct {
	field   string
	present bool
}

// onlyOne reports all present fields except the first, if at most one may be
// present. It returns the number of present fields.
func onlyOne(at *diag.At, what string, fields []presence) int {
	var names []string
	for _, f := range fields {
		if !f.present {
			continue
		}
		if names = append(names, f.field); len(names) > 1 {
			at.Field(f.field).Errorf(diag.BothPresent, "use one of them", "%s has %s already", what, names[0])
		}
	}
	return len(names)
}

// exactlyOne is onlyOne, but also reports an error if no field is present.
func exactlyOne(at *diag.At, what string, fields []presence) {
	if onlyOne(at, what, fields) > 0 {
		return
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.field
	}
	at.Errorf(diag.EmptyValue, "one of "+strings.Join(names, ", "), "%s is empty", what)
}
