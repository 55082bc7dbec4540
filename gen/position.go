package gen

import (
	"go/token"
	"os"
	"path/filepath"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// relative makes the file names of errors relative to the current directory.
func relative(all []diag.Diagnostic) Errors {
	for i := range all {
		all[i].Pos.Filename = Relative(all[i].Pos.Filename)
	}
	return all
}

// Relative returns a path relative to the current directory if it is below it,
// and otherwise the unchanged path.
func Relative(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	short, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(short) {
		return path
	}
	return short
}

func filePosition(path string) token.Position {
	return token.Position{Filename: path, Line: 1, Column: 1}
}
