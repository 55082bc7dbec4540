package gen

import (
	"os"
	"path/filepath"
)

// Relative returns a path relative to the current directory if it is in that directory,
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
