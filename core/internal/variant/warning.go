package variant

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
)

// A Warning describes a likely mistake in a document (SPEC 9.3).
type Warning struct {
	List    string // the document's field: variants or fragments
	Index   int    // in the list, or -1 for the list as a whole
	Code    diag.Code
	Message string
	Hint    string
}

// Warnings returns likely mistakes in the set: variants that accept no parameters, and
// parameters that no variant accepts.
func (s *ConstraintSet) Warnings() []Warning {
	var warnings []Warning
	for _, i := range s.Unsatisfiable() {
		warnings = append(warnings, Warning{"variants", i, diag.UnsatisfiableConstraint, "the constraints accept no parameters, so the variant is never chosen", "remove it"})
	}
	if p := s.Uncovered(); p != nil {
		warnings = append(warnings, Warning{"variants", -1, diag.UncoveredParameters,
			fmt.Sprintf("no variant accepts the parameters %s; for such a client the resource does not exist", FormatParameters(p)),
			"add a variant for them if there are such clients"})
	}
	return warnings
}

// Path returns the path of the list or of its element.
func (w Warning) Path() string {
	if w.Index < 0 {
		return w.List
	}
	return fmt.Sprintf("%s[%d]", w.List, w.Index)
}

// locate returns the place of the list or of its element in a document at a place.
func (w Warning) locate(locate *diag.At) *diag.At {
	if locate = locate.Field(w.List); w.Index >= 0 {
		locate = locate.Index(w.Index)
	}
	return locate
}
