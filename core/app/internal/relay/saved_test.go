package relay_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
)

// What is in the place of the cache may be anything by now. It is read with a limit and without waiting, and
// what a relay has not written is not used.
func TestCacheThatIsNone(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"a FIFO":        func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":      func(path string) error { return os.Symlink("/dev/zero", path) },
		"a directory":   func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":        func(path string) error { return os.Symlink(path, path) },
		"an empty file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a large file": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 5<<30))
		},
	} {
		path := filepath.Join(t.TempDir(), "relay-cache")
		if err := place(path); err != nil {
			t.Fatal(err)
		}
		if err := relay.ReadCache(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
