package conf

import (
	"errors"
	"regexp/syntax"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// maxRegex is the longest regular expression, in bytes: the Gateway API's limit.
const maxRegex = 1024

// ValidateRegex checks that RE2 compiles an expression quickly, both alone and in a group,
// and that Envoy accepts its program (SPEC 7.2). To compare a whole text, the expression is
// put into a group. A \Q without \E in the expression would leave the group open.
func ValidateRegex(at *diag.At, expression string) {
	var bad *syntax.Error
	if len(expression) > maxRegex {
		at.Errorf(diag.OutOfRange, "", "a regular expression must not be longer than %d bytes", maxRegex)
	} else if err := regex.Check(expression); errors.Is(err, regex.ErrTooLarge) {
		at.Errorf(diag.BadRegex, "repeat less", "bad regular expression: with its counts expanded it has more than %d instructions", regex.MaxProgram)
	} else if errors.Is(err, regex.ErrTooWide) {
		at.Errorf(diag.BadRegex, `write a class without \p, or a range that is shorter or not under (?i)`, "bad regular expression: %v", err)
	} else if errors.As(err, &bad) && bad.Code == syntax.ErrInvalidRepeatSize {
		at.Errorf(diag.BadRegex, "repeat at most 1000 times, with the counts of nested repetitions multiplied, and give the smaller count first", "bad regular expression: %v", err)
	} else if err != nil {
		at.Errorf(diag.BadRegex, "write it in RE2's syntax", "bad regular expression: %v", err)
	} else if _, err := syntax.Parse(`\A(?:`+expression+`)\z`, syntax.Perl); errors.As(err, &bad) {
		at.Errorf(diag.BadRegex, `end \Q with \E`, "bad regular expression: it cannot be in a group: %s", bad.Code)
	}
}
