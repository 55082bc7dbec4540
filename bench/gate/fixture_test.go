package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// writeFixture writes the fixture's module to a new directory, after replacing
// from with to in cost.go, and returns the directory. The go command and git run there
// without the environment of this test.
func writeFixture(t *testing.T, from, to string) string {
	t.Helper()
	for _, name := range []string{"GOFLAGS", "GOWORK"} {
		t.Setenv(name, "")
	}
	archive, err := txtar.ParseFile("testdata/fixture.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		text := string(f.Data)
		if f.Name == "cost.go" {
			if !strings.Contains(text, from) {
				t.Fatalf("cost.go has no %q", from)
			}
			text = strings.Replace(text, from, to, 1)
		}
		writeFile(t, filepath.Join(dir, f.Name), text, 0o644)
	}
	return dir
}

func writeFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// writeScript writes a shell script that replaces a test binary. The script
// appends its name and arguments to log, then runs body.
func writeScript(t *testing.T, dir, name, log, body string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	writeFile(t, path, "#!/bin/sh\necho "+name+" \"$@\" >>'"+log+"'\n"+body, 0o755)
	return path
}
