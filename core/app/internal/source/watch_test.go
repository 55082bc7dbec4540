package source

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The tests of this file run in bubbles of package synctest: files and loads are real,
// the clock is not, and the test sends the notifications of the operating system. Each
// update is therefore due at an exact time. A test must not do anything at an instant
// at which the watch does, as their order is not defined.

// bell is the notifications of a test.
type bell struct {
	events   chan struct{}
	watching func(dirs []string) // called before each load; may be nil
}

func newBell() *bell { return &bell{events: make(chan struct{}, 1)} }

func (b *bell) Changed() <-chan struct{} { return b.events }

func (b *bell) Watch(dirs []string) {
	if b.watching != nil {
		b.watching(dirs)
	}
}

func (b *bell) ring() {
	select {
	case b.events <- struct{}{}:
	default:
	}
}

// watched is a disk that is watched, with what was yielded.
type watched struct {
	*disk
	*bell
	begin time.Time
	stop  func() // ends the watch and waits for it

	mu  sync.Mutex
	log []string // "TIME: STATE", where a state is the dataplanes with their addresses, or an error
}

// watchDisk begins to watch paths of the disk, which it prepares.
func watchDisk(t *testing.T, b *bell, prepare func(d *disk), paths ...string) *watched {
	t.Helper()
	w := &watched{disk: newDisk(t), bell: b, begin: time.Now()}
	prepare(w.disk)
	files := Files{Loader: &resource.Loader{Kinds: kinds.All()}, Notifications: b}
	for _, path := range paths {
		files.Paths = append(files.Paths, w.path(path))
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	w.stop = func() { cancel(); <-ended }
	t.Cleanup(w.stop)
	go func() {
		defer close(ended)
		for state := range states(t, files.Watch(ctx)) {
			w.mu.Lock()
			w.log = append(w.log, fmt.Sprintf("%v: %s", time.Since(w.begin), strings.ReplaceAll(state, w.dir+"/", "")))
			w.mu.Unlock()
		}
	}()
	return w
}

// states yields the dataplanes that the batches of updates make, with their addresses,
// and errors.
func states(t *testing.T, updates iter.Seq2[*Update, error]) iter.Seq[string] {
	return func(yield func(string) bool) {
		held := map[resource.ID]string{}
		for update, err := range updates {
			if err != nil {
				if !yield(err.Error()) {
					return
				}
				continue
			}
			for _, d := range update.Batch.Upsert.Dataplanes {
				held[d.ID] = d.Name + "=" + d.Address
			}
			for _, id := range update.Batch.Delete {
				delete(held, id)
			}
			if len(held) != len(update.Set.Dataplanes) {
				t.Errorf("the batches make %d dataplanes, the set has %d", len(held), len(update.Set.Dataplanes))
			}
			if !yield(strings.Join(slices.Sorted(maps.Values(held)), " ")) {
				return
			}
		}
	}
}

// sleepUntil waits until a time after the begin.
func (w *watched) sleepUntil(d time.Duration) { time.Sleep(time.Until(w.begin.Add(d))) }

// expect compares what was yielded since the last call.
func (w *watched) expect(want ...string) {
	w.t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.log, want) {
		w.t.Fatalf("got  %q\nwant %q", w.log, want)
	}
	w.log = nil
}

// TestChanges makes each change after a second. It is loaded when files have been quiet
// for 100 ms: after the notification, or if that is lost, after the next scan.
func TestChanges(t *testing.T) {
	for name, c := range changes {
		t.Run(name+"/notified", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchDisk(t, newBell(), c.prepare, c.paths...)
				w.sleepUntil(time.Second)
				w.expect("0s: " + c.before)
				c.change(w.disk)
				w.ring()
				w.sleepUntil(time.Minute)
				w.expect("1.1s: " + c.after)
			})
		})
		t.Run(name+"/scanned", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchDisk(t, newBell(), c.prepare, c.paths...)
				w.sleepUntil(time.Second)
				w.expect("0s: " + c.before)
				c.change(w.disk)
				w.sleepUntil(time.Minute)
				w.expect("5.1s: " + c.after)
			})
		})
	}
}

// oneFile prepares a disk with a file that has one dataplane.
func oneFile(d *disk) { d.write("mesh/web.yaml", dataplane("web", a)) }

// TestQuiet writes files that are being written when they could be read.
func TestQuiet(t *testing.T) {
	type step struct {
		at      time.Duration
		content string // of mesh/web.yaml
	}
	address := func(n int) string { return fmt.Sprintf("10.0.1.%02d", n) }
	var endless []step
	for n := range 40 {
		endless = append(endless, step{time.Second + time.Duration(n)*71*time.Millisecond, dataplane("web", address(n+10))})
	}
	for name, c := range map[string]struct {
		steps []step
		want  []string
	}{
		"a file that is written piece by piece is read when it is whole": {
			[]step{{time.Second, ""}, {1070 * time.Millisecond, "{type: Data"}, {1140 * time.Millisecond, dataplane("web", b)}},
			[]string{"1.3s: web=" + b}},
		"edits with a pause are two": {
			[]step{{time.Second, dataplane("web", address(11))}, {1250 * time.Millisecond, dataplane("web", address(12))}},
			[]string{"1.1s: web=10.0.1.11", "1.35s: web=10.0.1.12"}},
		"edits that do not cease are read after ten times as long": {
			endless,
			[]string{"2s: web=10.0.1.24", "3s: web=10.0.1.38", "3.9s: web=10.0.1.49"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchDisk(t, newBell(), oneFile, "mesh")
				w.expect("0s: web=" + a)
				for _, s := range c.steps {
					w.sleepUntil(s.at)
					w.write("mesh/web.yaml", s.content)
					w.ring()
				}
				w.sleepUntil(time.Minute)
				w.expect(c.want...)
			})
		})
	}
}

// TestSameSizeAndTime writes a file twice in the resolution of its time. The second
// change leaves no trace that a scan could find, so recent files are loaded again.
func TestSameSizeAndTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchDisk(t, newBell(), oneFile, "mesh")
		w.sleepUntil(time.Second)
		first := time.Now()
		w.write("mesh/web.yaml", dataplane("web", b))
		w.ring()
		w.sleepUntil(1200 * time.Millisecond)
		w.expect("0s: web="+a, "1.1s: web="+b)
		w.write("mesh/web.yaml", dataplane("web", "10.0.0.3"))
		w.stamp("mesh/web.yaml", first)
		w.sleepUntil(time.Minute)
		w.expect("6.2s: web=10.0.0.3")
	})
}

// TestChangeDuringLoad changes a file after the scan and before the load, for as many
// loads as each case has. A load is repeated until no file has changed in it, but not
// for ever.
func TestChangeDuringLoad(t *testing.T) {
	for loads, want := range map[int]string{
		1: "100ms: web=10.0.1.1",
		3: "300ms: web=10.0.1.3",
		9: "400ms: web=10.0.1.5",
	} {
		t.Run(fmt.Sprintf("%d loads", loads), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, n := newBell(), 0
				d := newDisk(t)
				oneFile(d)
				b.watching = func([]string) {
					if n++; n <= loads {
						d.write("mesh/web.yaml", dataplane("web", fmt.Sprintf("10.0.1.%d", n))+strings.Repeat("\n", n)) // of a new size
					}
				}
				files := Files{Loader: &resource.Loader{Kinds: kinds.All()}, Paths: []string{d.path("mesh")}, Notifications: b}
				begin := time.Now()
				for state := range states(t, files.Watch(t.Context())) {
					if got := fmt.Sprintf("%v: %s", time.Since(begin), state); got != want {
						t.Errorf("got %q, want %q", got, want)
					}
					break
				}
			})
		})
	}
}

// TestErrors makes edits that are refused: they change nothing, and the next good one
// applies.
func TestErrors(t *testing.T) {
	type step struct {
		edit func(d *disk)
		want []string
	}
	for name, c := range map[string]struct {
		path    string
		prepare func(d *disk)
		first   string
		steps   []step // ten seconds apart
	}{
		"the first load": {"mesh",
			func(d *disk) { d.write("mesh/web.yaml", "type: Dataplan\nname: web\n") },
			"0s: mesh/web.yaml:1:7: type: unknown kind \"Dataplan\"; did you mean \"Dataplane\"?",
			[]step{{func(d *disk) { d.write("mesh/web.yaml", dataplane("web", a)) }, []string{"11.1s: web=" + a}}}},
		"an edit": {"mesh", oneFile, "0s: web=" + a, []step{
			{func(d *disk) { d.write("mesh/web.yaml", dataplane("web", `""`)) },
				[]string{"11.1s: mesh/web.yaml:1:52: networking.address: must not be empty"}},
			{func(*disk) {}, nil}, // it is reported once
			{func(d *disk) { d.write("mesh/web.yaml", dataplane("web", b)) }, []string{"31.1s: web=" + b}}}},
		"an edit that is taken back": {"mesh", oneFile, "0s: web=" + a, []step{
			{func(d *disk) { d.write("mesh/web.yaml", "}") }, []string{"11.1s: mesh/web.yaml:1:1: bad YAML: did not find expected node content; check indentation and quotes"}},
			{oneFile, []string{"21.1s: web=" + a}}}},
		"a given file vanishes and comes back": {"mesh/web.yaml", oneFile, "0s: web=" + a, []step{
			{func(d *disk) { d.remove("mesh/web.yaml") }, []string{"11.1s: mesh/web.yaml: cannot be read: no such file or directory; give a file, a directory or -"}},
			{func(d *disk) { d.write("mesh/web.yaml", dataplane("web", b)) }, []string{"21.1s: web=" + b}}}},
		"a given directory vanishes and comes back": {"mesh", oneFile, "0s: web=" + a, []step{
			{func(d *disk) { d.rename("mesh", "away") }, []string{"11.1s: mesh: cannot be read: no such file or directory; give a file, a directory or -"}},
			{func(d *disk) { d.write("mesh/web.yaml", dataplane("web", b)) }, []string{"21.1s: web=" + b}}}},
		"a duplicate in two files": {"mesh", oneFile, "0s: web=" + a, []step{
			{func(d *disk) { d.write("mesh/zweb.yaml", dataplane("web", b)) },
				[]string{`11.1s: mesh/zweb.yaml:1:1: name: duplicate Dataplane "web" in mesh "default"; the first one is at mesh/web.yaml:1:1`}},
			{func(d *disk) { d.remove("mesh/zweb.yaml") }, []string{"21.1s: web=" + a}}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchDisk(t, newBell(), c.prepare, c.path)
				for i, s := range c.steps {
					w.sleepUntil(time.Duration(i+1)*10*time.Second + time.Second)
					if i == 0 {
						w.expect(c.first)
					}
					s.edit(w.disk)
					w.ring()
					w.sleepUntil(time.Duration(i+2) * 10 * time.Second)
					w.expect(s.want...)
				}
			})
		})
	}
}

// TestUnchanged writes files without a change of their content.
func TestUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchDisk(t, newBell(), oneFile, "mesh")
		w.sleepUntil(time.Second)
		w.expect("0s: web=" + a)
		w.replace("mesh/web.yaml", dataplane("web", a))
		w.write("mesh/notes.txt", "no resource")
		w.write("mesh/.hidden.yaml", "}")
		w.write("mesh/.git/config.yaml", "}")
		w.ring()
		w.sleepUntil(time.Hour)
		w.expect()
	})
}

// TestEnd ends the context while the watch waits for a change, and while it waits for
// files to be quiet. The watch ends at once and yields nothing.
func TestEnd(t *testing.T) {
	for name, at := range map[string]time.Duration{"idle": 900 * time.Millisecond, "not quiet": 1050 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchDisk(t, newBell(), oneFile, "mesh")
				time.AfterFunc(time.Second, func() {
					w.write("mesh/web.yaml", dataplane("web", b))
					w.ring()
				})
				w.sleepUntil(at)
				w.expect("0s: web=" + a)
				w.stop()
				if d := time.Since(w.begin); d != at {
					t.Errorf("ended after %v, want %v", d, at)
				}
				time.Sleep(time.Minute)
				w.expect()
			})
		})
	}
}

// TestApplied applies the batches to an engine.
func TestApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t)
		engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
		steps := []string{
			"{type: MeshIdentity, name: i, spec: {selector: {dataplane: {}}, provider: {type: Spire}}}",
			"{type: MeshTimeout, name: t, spec: {to: [{default: {idleTimeout: 1s}}]}}",
			"",
		}
		d.write("a.yaml", dataplane("web", a))
		want := []int{1, 1, 2, 1} // Dataplane and MeshTimeout
		files := Files{Loader: &resource.Loader{Kinds: kinds.All()}, Paths: []string{d.dir}, Notifications: newBell()}
		n := 0
		for update, err := range files.Watch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := engine.Apply(t.Context(), update.Batch); err != nil {
				t.Fatal(err)
			}
			counts := engine.View().Count()
			if got := counts["Dataplane"] + counts["MeshTimeout"]; got != want[n] {
				t.Errorf("step %d: %v", n, counts)
			}
			if n == len(steps) {
				break
			}
			d.write("b.yaml", steps[n])
			n++
		}
	})
}
