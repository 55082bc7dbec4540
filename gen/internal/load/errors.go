package load

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// reportErrors reports the errors of a package except type errors, because most type
// errors are about names that will be generated; see TypeError.
func reportErrors(problems *diag.List, errors []packages.Error) {
	for _, e := range errors {
		if e.Kind == packages.TypeError {
			continue
		}
		pos := position(e.Pos)
		if isGenerated(pos.Filename) {
			continue
		}
		problems.Add(diag.Diagnostic{Pos: pos, What: strings.TrimSpace(e.Msg)})
	}
}

var location = regexp.MustCompile(`(?s)^(.*?)(?::(\d+))?(?::(\d+))?$`)

// position parses file:line:column; line and column may be missing.
func position(s string) token.Position {
	parts := location.FindStringSubmatch(s)
	if parts[1] == "-" {
		return token.Position{}
	}
	line, _ := strconv.Atoi(parts[2])
	column, _ := strconv.Atoi(parts[3])
	return token.Position{Filename: parts[1], Line: line, Column: column}
}

// collectTypeErrors stores the first error of each line, and the first failed
// import of each file: the checker reports no error for a type of such an import.
func collectTypeErrors(at map[string]string, errors []types.Error) {
	keep := func(key, msg string) {
		if _, ok := at[key]; !ok {
			at[key] = msg
		}
	}
	for _, e := range errors {
		pos := e.Fset.Position(e.Pos)
		keep(lineOf(pos), e.Msg)
		if strings.HasPrefix(e.Msg, "could not import ") {
			what, _, _ := strings.Cut(e.Msg, " (")
			keep(pos.Filename, what)
		}
	}
}

// TypeError returns the error of the type checker about the declaration at pos,
// whose type is invalid.
func (p *Package) TypeError(pos token.Pos) string {
	position := p.Position(pos)
	for _, key := range []string{lineOf(position), position.Filename} {
		if msg, ok := p.errors[key]; ok {
			return msg
		}
	}
	return "its type cannot be resolved"
}

func lineOf(pos token.Position) string { return fmt.Sprintf("%s:%d", pos.Filename, pos.Line) }
