package diag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Code identifies the kind of an error or a warning, independent of its text. It is
// passed where the message is made. A code never changes its meaning, and the code of a
// finding that no longer exists is not used again (SPEC 13.5).
type Code uint16

// String returns the code in the form that users write: MM and four digits.
func (c Code) String() string { return fmt.Sprintf("MM%04d", uint16(c)) }

// MarshalText returns [Code.String].
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ParseCode returns the code of a text such as MM0101, in any letter case, and reports
// whether there is such a code.
func ParseCode(text string) (Code, bool) {
	digits, ok := strings.CutPrefix(strings.ToUpper(text), "MM")
	c := parseDigits(digits)
	_, known := find(c)
	return c, ok && known
}

// parseDigits returns the code of four digits, or 0.
func parseDigits(digits string) Code {
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) != 4 {
		return 0
	}
	return Code(n)
}

// Definition returns the definition of the code. It panics for a code that is not in
// the list of this package.
func (c Code) Definition() *Definition {
	d, known := find(c)
	if !known {
		panic("diag: there is no code " + c.String())
	}
	return d
}

// Class returns the class of the code's findings.
func (c Code) Class() Class { return c.Definition().Class }

// IsForNextVersion reports whether findings with the code are about a later version of the
// control plane, for which a user has to ask.
func (c Code) IsForNextVersion() bool { return c >= TargetNotInKuma3 && c <= OpensInKuma3 }

// Class groups findings by the action that a user takes.
type Class string

// The classes. The findings of every class except [ClassError] and [ClassInfo] are warnings.
const (
	ClassError     Class = "error"     // the input is not valid
	ClassWarning   Class = "warning"   // a likely mistake
	ClassNoEffect  Class = "noEffect"  // valid, but without an effect
	ClassRedundant Class = "redundant" // without it every answer is the same
	ClassConflict  Class = "conflict"  // two parts of the input contradict each other
	ClassMigration Class = "migration" // another version of the control plane reads it differently
	ClassLimit     Class = "limit"     // unknown, because a limit was exceeded
	ClassOpens     Class = "opens"     // of `diff`: requests that were denied are allowed
	ClassCloses    Class = "closes"    // of `diff`: requests that were allowed are denied
	ClassDrains    Class = "drains"    // of `diff`: connections are closed
	ClassInfo      Class = "info"      // usual and correct, but good to know
)

// Classes returns all classes.
func Classes() []Class {
	return []Class{
		ClassError, ClassWarning, ClassOpens, ClassCloses, ClassDrains, ClassNoEffect, ClassRedundant, ClassConflict,
		ClassMigration, ClassLimit, ClassInfo,
	}
}

// IsWarning reports whether findings of the class are warnings.
func (c Class) IsWarning() bool { return c != ClassError && c != ClassInfo }

// TextError is an error of a type's UnmarshalText with the code of its finding. Other
// errors of that method have the code [BadValue].
type TextError struct {
	Code       Code
	What, Hint string
}

// Error returns "what; hint".
func (e *TextError) Error() string { return WithHint(e.What, e.Hint) }

// Definition describes the meaning of a code.
type Definition struct {
	Code  Code   `json:"code"`
	Class Class  `json:"class"`
	Title string `json:"title"` // a few words
	Means string `json:"means"` // what is wrong, and the consequences
	// Example contains documents with such a finding, with some semantics (SPEC 17.1) or
	// if clients are served over TLS. It is empty if documents alone cannot show the
	// finding; When then describes how it happens.
	Example   string `json:"example,omitempty"`
	Semantics string `json:"semantics,omitempty"`
	TLS       bool   `json:"tls,omitempty"`
	// Serve reports that by a semantics of Kuma `check` has such findings, or all of them, only
	// with --serve.
	Serve bool   `json:"serve,omitempty"`
	When  string `json:"when,omitempty"`
	Mend  string `json:"mend"` // what to do
}

// Definitions returns the definitions of all codes, in the order of the codes. The
// caller must not change them.
func Definitions() []*Definition { return definitions() }

func find(c Code) (*Definition, bool) {
	list := definitions()
	i, known := slices.BinarySearchFunc(list, c, compareCode)
	if !known {
		return nil, false
	}
	return list[i], true
}

func compareCode(d *Definition, c Code) int { return int(d.Code) - int(c) }
