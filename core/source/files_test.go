package source_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/source"
)

// TestMain lets more tests run at a time than there are processors: they wait most of
// their time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "12"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// watched is a directory that is watched, with the state of what was yielded: the
// names of the dataplanes with their addresses, or the error.
type watched struct {
	t      *testing.T
	dir    string
	states chan string
	stop   func()
}

// watchDir watches paths below a new directory, by notifications or by scans.
func watchDir(t *testing.T, files source.Files, prepare func(w *watched), paths ...string) *watched {
	t.Helper()
	w := &watched{t: t, dir: t.TempDir(), states: make(chan string, 100)}
	prepare(w)
	for _, path := range paths {
		files.Paths = append(files.Paths, filepath.Join(w.dir, path))
	}
	files.Loader = &resource.Loader{Kinds: kinds.All()}
	files.Notice = func(err error) { t.Error(err) }
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	w.stop = func() { cancel(); <-ended }
	t.Cleanup(w.stop)
	go func() {
		defer close(ended)
		held := map[resource.ID]string{}
		for update, err := range files.Watch(ctx) {
			if err != nil {
				w.states <- strings.ReplaceAll(err.Error(), w.dir+"/", "")
				continue
			}
			for _, d := range update.Batch.Upsert.Dataplanes {
				held[d.ID] = d.Name + "=" + d.Address
			}
			for _, id := range update.Batch.Delete {
				delete(held, id)
			}
			if len(held) != len(update.Set.Dataplanes) {
				w.states <- fmt.Sprintf("the batches make %d dataplanes, the set has %d", len(held), len(update.Set.Dataplanes))
				continue
			}
			w.states <- strings.Join(slices.Sorted(maps.Values(held)), " ")
		}
	}()
	return w
}

func dataplane(name, address string) string {
	return fmt.Sprintf("{type: Dataplane, name: %s, networking: {address: %s}}\n", name, address)
}

func (w *watched) path(name string) string { return filepath.Join(w.dir, name) }

func (w *watched) write(name, content string) {
	w.must(os.MkdirAll(filepath.Dir(w.path(name)), 0o755))
	w.must(os.WriteFile(w.path(name), []byte(content), 0o644))
}

func (w *watched) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *watched) remove(name string)         { w.must(os.RemoveAll(w.path(name))) }
func (w *watched) rename(from, to string)     { w.must(os.Rename(w.path(from), w.path(to))) }
func (w *watched) link(target, name string)   { w.must(os.Symlink(target, w.path(name))) }
func (w *watched) edit(name, to string)       { w.write(name, to) }
func (w *watched) replace(name, with string)  { w.write(name+"~", with); w.rename(name+"~", name) }
func (w *watched) swapLink(target, at string) { w.link(target, at+".tmp"); w.rename(at+".tmp", at) }
func (w *watched) expect(states ...string)    { w.t.Helper(); w.expectWithin(10*time.Second, states...) }
func (w *watched) expectNothing(d time.Duration) {
	w.t.Helper()
	select {
	case state := <-w.states:
		w.t.Errorf("got %q", state)
	case <-time.After(d):
	}
}

// expectWithin waits for states; the last is the state that remains.
func (w *watched) expectWithin(limit time.Duration, states ...string) {
	w.t.Helper()
	for _, want := range states {
		select {
		case got := <-w.states:
			if !strings.HasPrefix(got, want) || want == "" && got != "" {
				w.t.Fatalf("got  %q\nwant %q", got, want)
			}
		case <-time.After(limit):
			w.t.Fatalf("nothing within %v, want %q", limit, want)
		}
	}
}

// TestWatch makes the changes that people, editors and Kubernetes make. Each is
// found by a notification, as scans without one are an hour apart, and by a scan.
func TestWatch(t *testing.T) {
	const a, b = "10.0.0.1", "10.0.0.2"
	for name, c := range map[string]struct {
		paths   []string
		prepare func(w *watched)
		change  func(w *watched)
		want    string
	}{
		"a file is edited": {[]string{"mesh.yaml"},
			func(w *watched) { w.write("mesh.yaml", dataplane("web", a)) },
			func(w *watched) { w.edit("mesh.yaml", dataplane("web", b)) }, "web=" + b},
		"an editor replaces a file": {[]string{"mesh.yaml"},
			func(w *watched) { w.write("mesh.yaml", dataplane("web", a)) },
			func(w *watched) { w.replace("mesh.yaml", dataplane("web", b)) }, "web=" + b},
		"an editor replaces a file of a directory": {[]string{"mesh"},
			func(w *watched) { w.write("mesh/web.yaml", dataplane("web", a)) },
			func(w *watched) { w.replace("mesh/web.yaml", dataplane("web", b)) }, "web=" + b},
		"an editor moves a file away and writes it anew": {[]string{"mesh"},
			func(w *watched) { w.write("mesh/web.yaml", dataplane("web", a)) },
			func(w *watched) {
				w.rename("mesh/web.yaml", "mesh/web.yaml~")
				w.write("mesh/web.yaml", dataplane("web", b))
			}, "web=" + b},
		"a file is added": {[]string{"mesh"},
			func(w *watched) { w.write("mesh/web.yaml", dataplane("web", a)) },
			func(w *watched) { w.write("mesh/api.yaml", dataplane("api", b)) }, "api=" + b + " web=" + a},
		"a file is removed": {[]string{"mesh"},
			func(w *watched) {
				w.write("mesh/web.yaml", dataplane("web", a))
				w.write("mesh/api.yaml", dataplane("api", a))
			},
			func(w *watched) { w.remove("mesh/api.yaml") }, "web=" + a},
		"a directory is moved in": {[]string{"mesh"},
			func(w *watched) {
				w.write("mesh/web.yaml", dataplane("web", a))
				w.write("team/deep/api.yaml", dataplane("api", a))
			},
			func(w *watched) { w.rename("team", "mesh/team") }, "api=" + a + " web=" + a},
		"the whole directory is replaced": {[]string{"mesh"},
			func(w *watched) {
				w.write("mesh/web.yaml", dataplane("web", a))
				w.write("next/web.yaml", dataplane("web", b))
			},
			func(w *watched) { w.rename("mesh", "old"); w.rename("next", "mesh") }, "web=" + b},
		"a ConfigMap is updated": {[]string{"mesh"},
			func(w *watched) {
				w.write("mesh/..2026_1/web.yaml", dataplane("web", a))
				w.link("..2026_1", "mesh/..data")
				w.link("..data/web.yaml", "mesh/web.yaml")
			},
			func(w *watched) {
				w.write("mesh/..2026_2/web.yaml", dataplane("web", b))
				w.swapLink("..2026_2", "mesh/..data")
				w.remove("mesh/..2026_1")
			}, "web=" + b},
		"a ConfigMap of which one file is given": {[]string{"mesh/web.yaml"},
			func(w *watched) {
				w.write("mesh/..2026_1/web.yaml", dataplane("web", a))
				w.link("..2026_1", "mesh/..data")
				w.link("..data/web.yaml", "mesh/web.yaml")
			},
			func(w *watched) {
				w.write("mesh/..2026_2/web.yaml", dataplane("web", b))
				w.swapLink("..2026_2", "mesh/..data")
				w.remove("mesh/..2026_1")
			}, "web=" + b},
		"the given path is a link that changes": {[]string{"current"},
			func(w *watched) {
				w.write("v1/web.yaml", dataplane("web", a))
				w.write("v2/web.yaml", dataplane("web", b))
				w.link("v1", "current")
			},
			func(w *watched) { w.swapLink("v2", "current") }, "web=" + b},
		"several files change together": {[]string{"mesh"},
			func(w *watched) {
				w.write("mesh/web.yaml", dataplane("web", a))
				w.write("mesh/api.yaml", dataplane("api", a))
			},
			func(w *watched) {
				w.edit("mesh/web.yaml", dataplane("web", b))
				w.edit("mesh/api.yaml", dataplane("api", b))
			}, "api=" + b + " web=" + b},
	} {
		for mode, files := range map[string]source.Files{
			"notified": {Quiet: time.Second, Rescan: time.Hour},
			"scanned":  {Quiet: 50 * time.Millisecond, Rescan: 50 * time.Millisecond},
		} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				if mode == "scanned" {
					source.WithoutNotifications(&files)
				}
				w := watchDir(t, files, c.prepare, c.paths...)
				<-w.states
				c.change(w)
				// A scan may fall between two steps of a change. What counts is where it
				// ends.
				deadline := time.After(10 * time.Second)
				for got := ""; got != c.want; {
					select {
					case got = <-w.states:
						if mode == "notified" && got != c.want {
							t.Errorf("got %q, want %q", got, c.want)
						}
					case <-deadline:
						t.Fatalf("no %q; the last state is %q", c.want, got)
					}
				}
				w.expectNothing(100 * time.Millisecond)
			})
		}
	}
}

// TestErrors makes edits that are refused: they change nothing, and the next good
// one applies. Each edit is one step: on a slow machine a file that is written in place
// may be read while it is empty.
func TestErrors(t *testing.T) {
	const a, b = "10.0.0.1", "10.0.0.2"
	quick := source.Files{Quiet: 20 * time.Millisecond, Rescan: 100 * time.Millisecond}

	t.Run("the first load", func(t *testing.T) {
		w := watchDir(t, quick, func(w *watched) { w.write("mesh/web.yaml", "type: Dataplan\nname: web\n") }, "mesh")
		w.expect(`mesh/web.yaml:1:7: type: unknown kind "Dataplan"; did you mean "Dataplane"?`)
		w.replace("mesh/web.yaml", dataplane("web", a))
		w.expect("web=" + a)
	})
	t.Run("an edit", func(t *testing.T) {
		w := watchDir(t, quick, func(w *watched) { w.write("mesh.yaml", dataplane("web", a)) }, "mesh.yaml")
		w.expect("web=" + a)
		w.replace("mesh.yaml", dataplane("web", "\"\""))
		w.expect("mesh.yaml:1:")
		w.expectNothing(300 * time.Millisecond) // it is reported once
		w.replace("mesh.yaml", dataplane("web", b))
		w.expect("web=" + b)
	})
	t.Run("an edit that is taken back", func(t *testing.T) {
		w := watchDir(t, quick, func(w *watched) { w.write("mesh.yaml", dataplane("web", a)) }, "mesh.yaml")
		w.expect("web=" + a)
		w.replace("mesh.yaml", "}")
		w.expect("mesh.yaml:1:")
		w.replace("mesh.yaml", dataplane("web", a))
		w.expect("web=" + a)
	})
	t.Run("a given file vanishes and comes back", func(t *testing.T) {
		w := watchDir(t, quick, func(w *watched) { w.write("mesh.yaml", dataplane("web", a)) }, "mesh.yaml")
		w.expect("web=" + a)
		w.remove("mesh.yaml")
		w.expect("mesh.yaml: cannot be read: no such file or directory")
		w.replace("mesh.yaml", dataplane("web", b))
		w.expect("web=" + b)
	})
	t.Run("a given directory vanishes and comes back", func(t *testing.T) {
		w := watchDir(t, quick, func(w *watched) { w.write("mesh/web.yaml", dataplane("web", a)) }, "mesh")
		w.expect("web=" + a)
		w.rename("mesh", "away")
		w.expect("mesh: cannot be read: no such file or directory")
		w.write("next/web.yaml", dataplane("web", b))
		w.rename("next", "mesh")
		w.expect("web=" + b)
	})
	t.Run("a duplicate in two files", func(t *testing.T) {
		w := watchDir(t, quick, func(w *watched) { w.write("mesh/a.yaml", dataplane("web", a)) }, "mesh")
		w.expect("web=" + a)
		w.write("mesh/b.yaml", dataplane("web", b))
		w.expect(`mesh/b.yaml:1:1: name: duplicate Dataplane "web" in mesh "default"; the first one is at `)
		w.remove("mesh/b.yaml")
		w.expect("web=" + a)
	})
}

// TestUnchanged writes files without a change of their content.
func TestUnchanged(t *testing.T) {
	quick := source.Files{Quiet: 10 * time.Millisecond, Rescan: 30 * time.Millisecond}
	w := watchDir(t, quick, func(w *watched) { w.write("mesh/web.yaml", dataplane("web", "10.0.0.1")) }, "mesh")
	w.expect("web=10.0.0.1")
	w.replace("mesh/web.yaml", dataplane("web", "10.0.0.1"))
	w.write("mesh/notes.txt", "no resource")
	w.write("mesh/.hidden.yaml", "}")
	w.write("mesh/.git/config.yaml", "}")
	w.expectNothing(200 * time.Millisecond)
}

// TestApplied applies the batches to an engine.
func TestApplied(t *testing.T) {
	dir := t.TempDir()
	engine := core.NewEngine(kinds.All(), core.Options{})
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	identity := "{type: MeshIdentity, name: i, spec: {selector: {dataplane: {}}, provider: {type: Spire}}}"
	steps := []func(){
		func() { write("b.yaml", identity) },
		func() { write("b.yaml", "{type: MeshTimeout, name: t, spec: {to: [{default: {idleTimeout: 1s}}]}}") },
		func() { write("b.yaml", "") },
	}
	write("a.yaml", dataplane("web", "10.0.0.1"))
	want := []int{1, 1, 2, 1} // Dataplane and MeshTimeout
	files := source.Files{Loader: &resource.Loader{Kinds: kinds.All()}, Paths: []string{dir}, Quiet: 10 * time.Millisecond, Rescan: 50 * time.Millisecond}
	n := 0
	for update, err := range files.Watch(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Apply(update.Batch); err != nil {
			t.Fatal(err)
		}
		counts := engine.View().Count()
		if got := counts["Dataplane"] + counts["MeshTimeout"]; got != want[n] {
			t.Errorf("step %d: %v", n, counts)
		}
		if n == len(steps) {
			break
		}
		steps[n]()
		n++
	}
}
