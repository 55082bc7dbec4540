package load

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// reportErrors reports what makes a package unreadable. Type errors are left
// to TypeError: most of them are about names that are to be generated.
func reportErrors(problems *diag.List, errors []packages.Error) {
	for _, e := range errors {
		if e.Kind == packages.TypeError {
			continue
		}
		pos := position(e.Pos)
		if filepath.Base(pos.Filename) == CodeFile {
			continue
		}
		problems.Add(diag.Diagnostic{Pos: pos, What: strings.TrimSpace(e.Msg)})
	}
}

// position reads file:line:column, where line and column may be missing.
func position(s string) token.Position {
	var numbers []int
	for len(numbers) < 2 {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			break
		}
		numbers = append([]int{n}, numbers...)
		s = s[:i]
	}
	pos := token.Position{Filename: s}
	switch len(numbers) {
	case 2:
		pos.Line, pos.Column = numbers[0], numbers[1]
	case 1:
		pos.Line = numbers[0]
	}
	if s == "-" {
		return token.Position{}
	}
	return pos
}

// collectTypeErrors keeps the first error of each line, and of each file the
// first import that failed: of a type from there the checker says nothing more.
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

// TypeError returns what the type checker says about the declaration at pos,
// whose type it could not make out.
func (p *Package) TypeError(pos token.Pos) string {
	position := p.Position(pos)
	for _, key := range []string{lineOf(position), position.Filename} {
		if msg, ok := p.errors[key]; ok {
			return msg
		}
	}
	return "its type can not be resolved"
}

func lineOf(pos token.Position) string { return fmt.Sprintf("%s:%d", pos.Filename, pos.Line) }
