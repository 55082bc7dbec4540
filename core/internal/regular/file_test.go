package regular_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/regular"
)

// Only a regular file of at most so many bytes is read, and nothing is waited for.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("four"), []byte("1234"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hosts", path("out")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, c := range []struct {
		root  *os.Root
		path  string
		limit int64
		want  error
	}{
		{nil, path("four"), 4, nil},
		{root, "four", 4, nil},
		{nil, path("four"), 3, regular.ErrTooLarge},
		{nil, path("fifo"), 3, regular.ErrNotRegular},
		{nil, dir, 3, regular.ErrNotRegular},
		{nil, "/dev/zero", 3, regular.ErrNotRegular},
		{nil, path("none"), 3, os.ErrNotExist},
	} {
		data, err := regular.ReadFile(c.root, c.path, c.limit)
		if !errors.Is(err, c.want) || err == nil && string(data) != "1234" {
			t.Errorf("%s with %d bytes: %q, %v, want %v", c.path, c.limit, data, err, c.want)
		}
		var named *os.PathError
		if err != nil && !errors.As(err, &named) {
			t.Errorf("%s: the error %v has no path", c.path, err)
		}
	}
	if _, err := regular.ReadFile(root, "out", 1<<20); err == nil {
		t.Error("a link that leads out of the directory is followed")
	}
	if _, err := regular.ReadFile(nil, "/proc/self/status", 10); !errors.Is(err, regular.ErrTooLarge) {
		t.Errorf("a file that grows while it is read: %v", err)
	}
}
