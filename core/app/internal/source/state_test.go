package source

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The file of a kept state may lead to anything by now: it is read with a limit, and without
// waiting.
func TestStateThatNeverEnds(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"a FIFO":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a file of 3 GiB": func(path string) error {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 3<<30)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			keeper, files := NewStoreKeeper(dir, "store"), NewKeeper(filepath.Join(dir, "files"))
			if err := os.MkdirAll(filepath.Dir(files.Path()), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{keeper.Path(), files.Path()} {
				if err := replace(path); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := keeper.load(); err == nil {
				t.Error("the state of a store is loaded")
			}
			if _, err := readState(files.Path()); err == nil {
				t.Error("the state of files is loaded")
			}
		})
	}
}
