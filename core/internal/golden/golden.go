package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// An Answer returns the content that a file of an archive must have, or false if the
// file is an input.
type Answer func(t *testing.T, file *txtar.File) (content string, ok bool)

// Archives runs a subtest for each archive whose path matches a pattern. It calls read
// with the archive, and compares the files with what the returned Answer returns.
func Archives(t *testing.T, pattern string, read func(t *testing.T, archive *txtar.Archive) Answer) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archive matches %s: %v", pattern, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if compare(t, archive, read(t, archive)) == 0 {
				t.Errorf("%s has no answers", path)
			}
			if isUpdate() {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func isUpdate() bool { return os.Getenv("UPDATE") != "" }

// compare compares the answers of an archive, or writes them into it, and returns how
// many there are.
func compare(t *testing.T, archive *txtar.Archive, answer Answer) int {
	t.Helper()
	answers := 0
	for i := range archive.Files {
		file := &archive.Files[i]
		got, ok := answer(t, file)
		if !ok {
			continue
		}
		answers++
		if isUpdate() {
			file.Data = []byte(got)
		} else if diff := cmp.Diff(string(file.Data), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file.Name, diff)
		}
	}
	return answers
}
