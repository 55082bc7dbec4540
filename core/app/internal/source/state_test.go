package source

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/kept"
)

// The file of a kept state may lead to anything by now: it is read with a limit, and without
// waiting.
func TestStateThatNeverEnds(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"a FIFO":                func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device":              func(path string) error { return os.Symlink("/dev/zero", path) },
		"a directory":           func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to itself":      func(path string) error { return os.Symlink(path, path) },
		"a link to a directory": func(path string) error { return os.Symlink(filepath.Dir(path), path) },
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
			// It is not read at all: what is read and has another checksum is [kept.ErrDamaged].
			var unread *fs.PathError
			if _, err := keeper.load(); !errors.As(err, &unread) {
				t.Errorf("the state of a store is read: %v", err)
			}
			if _, err := kept.Read(files.Path(), maxState); !errors.As(err, &unread) {
				t.Errorf("the state of files is read: %v", err)
			}
		})
	}
}

// That a store was set back is remembered regardless of what is in the place of the note, without waiting.
func TestNoteOfSetBack(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"nothing":              func(string) error { return nil },
		"a FIFO":               func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link":               func(path string) error { return os.Symlink("nowhere", path) },
		"a link to other data": func(path string) error { return os.Symlink("state", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			other := filepath.Join(dir, "state")
			if err := os.WriteFile(other, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			keeper := NewStoreKeeper(dir, "store")
			if err := place(keeper.path + setBackSuffix); err != nil {
				t.Fatal(err)
			}
			keeper.rememberSetBack(true)
			if !keeper.isSetBack() {
				t.Error("it is not remembered")
			}
			if data, err := os.ReadFile(other); err != nil || string(data) != "x" {
				t.Errorf("another file is written: %q, %v", data, err)
			}
			if keeper.rememberSetBack(false); keeper.isSetBack() {
				t.Error("it is not forgotten")
			}
		})
	}
}

// A kept state that was cut anywhere is damaged.
func TestTruncatedState(t *testing.T) {
	keeper := NewStoreKeeper(t.TempDir(), "store")
	if err := keeper.save(&keptState{revision: 7, objects: []Object{{Key: "a", Data: []byte("{}")}, {Key: "b", Data: []byte("{}")}}}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(keeper.path)
	if err != nil {
		t.Fatal(err)
	}
	for size := 0; size < len(whole); size += 1 + size%97 {
		if err := os.WriteFile(keeper.path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := keeper.load(); !errors.Is(err, kept.ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", size, len(whole), err)
		}
	}
}
