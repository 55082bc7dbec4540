package kept_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/kept"
	"github.com/meshmatch/meshmatch/core/internal/regular"
)

func keep(t *testing.T, path, content string) {
	t.Helper()
	f, err := kept.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(); err != nil {
		t.Fatal(err)
	}
}

// What is kept is read again, and what is discarded leaves the file as it was.
func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "state")
	if _, err := kept.Read(path, 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before: %v", err)
	}
	for _, content := range []string{"first", "", "another\n"} {
		keep(t, path, content)
		f, err := kept.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		f.Discard()
		if data, err := kept.Read(path, 100); err != nil || string(data) != content {
			t.Errorf("%q is read as %q, %v", content, data, err)
		}
	}
	if left, _ := filepath.Glob(path + "-*"); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	if _, err := kept.Read(path, 10); err == nil || errors.Is(err, kept.ErrDamaged) {
		t.Errorf("a file above the limit: %v", err)
	}
}

// A file with another content than was written is damaged, and so is one that was cut.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	keep(t, path, "content")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		other := append([]byte{}, whole...)
		other[i] ^= 1
		for _, data := range [][]byte{whole[:i], other} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := kept.Read(path, 1000); !errors.Is(err, kept.ErrDamaged) {
				t.Errorf("%q: %v", data, err)
			}
		}
	}
}

// The temporary files of processes that were killed are removed, if none writes them any longer.
func TestAbandoned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for name, age := range map[string]time.Duration{"-old.tmp": 2 * time.Hour, "-new.tmp": time.Minute} {
		if err := os.WriteFile(path+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(path+name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	keep(t, path, "content")
	left, _ := filepath.Glob(path + "-*")
	if len(left) != 1 || filepath.Base(left[0]) != "state-new.tmp" {
		t.Errorf("left are %v", left)
	}
}

// A file that grows while it is read is read up to the limit.
func TestFileThatGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
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
	data, err := regular.ReadFile(nil, path, limit)
	close(end)
	<-ended
	if len(data) > limit+1 || err == nil && len(data) != limit {
		t.Errorf("%d bytes are read: %v", len(data), err)
	}
	if err := file.Truncate(limit + 1); err != nil {
		t.Fatal(err)
	}
	if _, err := regular.ReadFile(nil, path, limit); err == nil {
		t.Error("a file above the limit is read")
	}
}
