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

// A file that grows while it is read is read up to the limit.
func TestCacheThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay-cache")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	const limit = 64 << 20
	if err := file.Truncate(limit); err != nil {
		t.Fatal(err)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for size := int64(limit); size < 16<<30; size += 1 << 20 {
			select {
			case <-end:
				return
			default:
				_ = file.Truncate(size)
			}
		}
	}()
	data, err := relay.ReadSaved(path, limit)
	close(end)
	<-ended
	if len(data) > limit+1 || err == nil && len(data) != limit {
		t.Errorf("%d bytes are read: %v", len(data), err)
	}
	if err := file.Truncate(limit + 1); err != nil {
		t.Fatal(err)
	}
	if _, err := relay.ReadSaved(path, limit); err == nil {
		t.Error("a file above the limit is read")
	}
}
