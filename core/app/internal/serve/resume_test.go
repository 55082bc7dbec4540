package serve_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
)

func statusOf(t *testing.T, r *running) serve.Status {
	t.Helper()
	code, body, err := r.get("/status", nil)
	var status serve.Status
	if err != nil || code != http.StatusOK || json.Unmarshal([]byte(body), &status) != nil {
		t.Fatalf("/status: %d, %v: %s", code, err, body)
	}
	return status
}

// TestStatus reads the status of good files, and of files with errors.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.Version = "v7" })
		status := statusOf(t, r)
		if status.Version != "v7" || status.Semantics != semantics.TargetRef || status.Meshes != 1 || status.Dataplanes.Absent != 2 || len(status.Errors) != 0 || status.Stale != nil || status.LastLoad == nil {
			t.Errorf("got %+v", status)
		}
		r.write("bad.yaml", "{type: Mesh}\n---\n{type: MeshTimeout, nam: x}")
		r.eventually("errors", func() bool { return len(statusOf(t, r).Errors) > 1 })
		stale := statusOf(t, r)
		if stale.Stale == nil || stale.Stale.Why != "the files have 4 errors" || !strings.Contains(stale.Errors[0], "bad.yaml:1:1: name: ") || !stale.LastLoad.Equal(*status.LastLoad) {
			t.Errorf("got %+v, %+v", stale, stale.Stale)
		}
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_stale 1\n")
		r.write("bad.yaml", timeout("1s"))
		r.eventually("good load", func() bool { return statusOf(t, r).Stale == nil })
		if good := statusOf(t, r); len(good.Errors) != 0 || !good.LastLoad.After(*status.LastLoad) {
			t.Errorf("got %+v", good)
		}
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_last_load_timestamp_seconds 9.466848")
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_stale 0\n")
	})
}

// TestResume restarts a server with invalid files. It serves the input of the last good
// load until the files are valid.
func TestResume(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(dir string) error
		why   string // in the errors of /status
	}{
		"a file has errors": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "timeout.yaml"), []byte("{type: Mesh}"), 0o644)
		}, "timeout.yaml:1:1: name: "},
		"the path does not exist": {os.RemoveAll, "cannot be read: no such file or directory"},
		"the directory is empty": {func(dir string) error {
			return os.Remove(filepath.Join(dir, "mesh.yaml"))
		}, "the files have no dataplane, and the last good input has some"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := filepath.Join(t.TempDir(), "state")
				keep := func(o *serve.Options) { o.State = state }
				r := &running{t: t, dir: filepath.Join(t.TempDir(), "files"), log: &serve.LockedBuffer{}}
				if err := os.Mkdir(r.dir, 0o755); err != nil {
					t.Fatal(err)
				}
				r.write("mesh.yaml", mesh+"---\n"+timeout("3s"))
				r.run(keep)
				r.eventually("kept input", func() bool {
					_, err := os.Stat(filepath.Join(state, "last-good-input.tar"))
					return err == nil
				})
				if err := r.stop(); err != nil {
					t.Fatal(err)
				}
				if err := c.spoil(r.dir); err != nil {
					t.Fatal(err)
				}
				r.log.Reset()
				r.run(keep)
				defer func() {
					if err := r.stop(); err != nil {
						t.Error(err)
					}
				}()
				r.expect("/readyz", http.StatusOK, "ok")
				r.expect("/meshes/default/dataplanes/web/_conf?kind=mt&outbound=api", http.StatusOK, `"connectionTimeout": "3s"`)
				status := statusOf(t, r)
				if status.Stale == nil || !strings.Contains(status.Stale.Why, "is served from "+state) || len(status.Errors) != 1 || !strings.Contains(status.Errors[0], c.why) {
					t.Errorf("got %+v, %+v", status, status.Stale)
				}
				if !strings.Contains(r.log.String(), "the files have 1 error at the start; the last good input, of ") {
					t.Errorf("the log has no line about it:\n%s", r.log)
				}

				if err := os.MkdirAll(r.dir, 0o755); err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(filepath.Join(r.dir, "timeout.yaml"))
				r.write("mesh.yaml", mesh+"---\n"+strings.Replace(timeout("4s"), "name: t", "name: other", 1))
				r.eventually("good load", func() bool { return statusOf(t, r).Stale == nil })
				r.expect("/meshes/default/dataplanes/web/_conf?kind=mt&outbound=api", http.StatusOK, `"connectionTimeout": "4s"`)
				r.expect("/metrics", http.StatusOK, "\nmeshmatch_resources{kind=\"MeshTimeout\"} 1\n")
			})
		})
	}
}

// TestDamagedState starts with invalid files and a damaged kept input. The errors of the
// files end the server, and the log has the path of the kept input.
func TestDamagedState(t *testing.T) {
	for name, damage := range map[string]func(data []byte) []byte{
		"a byte differs":       func(data []byte) []byte { data[600] ^= 1; return data },
		"the end is missing":   func(data []byte) []byte { return data[:len(data)-1] },
		"the begin is missing": func(data []byte) []byte { return data[512:] },
		"it is empty":          func([]byte) []byte { return nil },
		"the checksum differs": func(data []byte) []byte { data[len(data)-2] ^= 1; return data },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := t.TempDir()
				keep := func(o *serve.Options) { o.State = state }
				r := &running{t: t, dir: t.TempDir(), log: &serve.LockedBuffer{}}
				r.write("mesh.yaml", mesh)
				r.run(keep)
				path := filepath.Join(state, "last-good-input.tar")
				r.eventually("kept input", func() bool { _, err := os.Stat(path); return err == nil })
				if err := r.stop(); err != nil {
					t.Fatal(err)
				}
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, damage(data), 0o600); err != nil {
					t.Fatal(err)
				}
				r.write("mesh.yaml", "{type: Mesh}")
				o := options(r.dir, r.log)
				keep(&o)
				s, err := serve.New(o)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.Run(context.WithoutCancel(t.Context())); err == nil || !strings.Contains(err.Error(), "mesh.yaml:1:1: name: ") {
					t.Errorf("got %v", err)
				}
				if want := "the last good input cannot be used: " + path + ": the file is damaged"; !strings.Contains(r.log.String(), want) {
					t.Errorf("the log has no %q:\n%s", want, r.log)
				}
				if left, _ := filepath.Glob(filepath.Join(state, "*.tmp")); len(left) > 0 {
					t.Errorf("temporary files are left: %v", left)
				}
			})
		})
	}
}

// TestKeptInput checks that the input of good loads is kept, but not while removals are
// held.
func TestKeptInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := t.TempDir()
		r := start(t, map[string]string{"mesh.yaml": mesh, "many.yaml": many()}, holding(time.Hour), func(o *serve.Options) { o.State = state })
		kept := func() string {
			data, _ := os.ReadFile(filepath.Join(state, "last-good-input.tar"))
			return string(data)
		}
		r.eventually("kept input", func() bool { return strings.Contains(kept(), "dp-19") })
		r.write("mesh.yaml", mesh+"---\n{type: Mesh, name: good}")
		r.eventually("kept edit", func() bool { return strings.Contains(kept(), "name: good") })
		r.write("mesh.yaml", mesh+"---\n{type: Mesh, name: bad, bad: bad}")
		r.eventually("error", func() bool { return statusOf(t, r).Stale != nil })
		if err := os.Remove(filepath.Join(r.dir, "many.yaml")); err != nil {
			t.Fatal(err)
		}
		r.write("mesh.yaml", mesh+"---\n{type: Mesh, name: held}")
		r.eventually("held removals", func() bool { return statusOf(t, r).HeldRemovals == 20 })
		if content := kept(); strings.Contains(content, "name: bad") || strings.Contains(content, "name: held") || !strings.Contains(content, "dp-19") {
			t.Errorf("kept:\n%s", content)
		}
		r.write("many.yaml", many())
		r.eventually("kept input after it", func() bool { return strings.Contains(kept(), "name: held") })
	})
}
