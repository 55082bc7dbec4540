package golden_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/internal/golden"
)

// upper is an Answer: the input in upper case.
func upper(_ *testing.T, archive *txtar.Archive) golden.Answer {
	return func(_ *testing.T, file *txtar.File) (string, bool) {
		return strings.ToUpper(string(archive.Files[0].Data)), file.Name == "answer"
	}
}

// With UPDATE=1 the answers are written, and the other files do not change. Later runs
// compare with what was written.
func TestArchives(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.txtar")
	const want = "About it.\n-- input --\na\n-- answer --\nA\n"
	if err := os.WriteFile(path, []byte("About it.\n-- input --\na\n-- answer --\nold\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("UPDATE", "1")
	golden.Archives(t, path, upper)
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	t.Setenv("UPDATE", "")
	golden.Archives(t, path, upper)
}
