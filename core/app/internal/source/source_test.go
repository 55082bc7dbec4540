package source_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

func TestFilesAsSource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) *sourcetest.Subject {
		dir := filepath.Join(t.TempDir(), "current")
		state := map[string]sourcetest.Document{}
		s := &sourcetest.Subject{
			Source: &source.Files{Loader: sourcetest.Loader(), Paths: []string{dir}, Quiet: time.Millisecond, Rescan: 20 * time.Millisecond},
			Whole:  true,
		}
		// A link is replaced, as by a volume of Kubernetes: all files change at once.
		s.Write = func(t *testing.T, documents ...sourcetest.Document) {
			next := t.TempDir()
			for _, d := range documents {
				state[d.Kind+"-"+d.Name] = d
			}
			for name, d := range state {
				if d.Spec == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(next, name+".json"), []byte(d.Universal()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if os.Symlink(next, dir+".next") != nil || os.Rename(dir+".next", dir) != nil {
				t.Fatal("the link cannot be replaced")
			}
		}
		s.Write(t)
		return s
	})
}

func TestStoreAsSource(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) *sourcetest.Subject {
		m := sourcetest.NewMemory()
		return &sourcetest.Subject{
			Source: &source.Stored{Store: m, Loader: sourcetest.Loader()},
			Write: func(_ *testing.T, documents ...sourcetest.Document) {
				put := map[resource.ID]string{}
				for _, d := range documents {
					text := ""
					if d.Spec != "" {
						text = d.Universal()
					}
					put[resource.ID{Kind: d.Kind, Mesh: "default", Name: d.Name}] = text
				}
				m.Put(put)
			},
			Lose:    func(*testing.T) { m.Lose() },
			Restore: func(*testing.T) { m.Restore() },
			Forget:  func(*testing.T) { m.Forget() },
		}
	})
}
