package etcd_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// modelled is a source of a model of etcd.
func modelled(t *testing.T, m *etcdtest.Member) *source.Stored {
	t.Helper()
	address, err := etcd.ParseAddress("etcd://model:2379/mesh")
	if err != nil {
		t.Fatal(err)
	}
	s, err := etcd.New(etcd.Options{Address: *address, Client: m.Client()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &source.Stored{Store: s, Loader: sourcetest.Loader()}
}

// putModel writes documents to a model in one transaction.
func putModel(m *etcdtest.Member, documents ...sourcetest.Document) {
	values := map[string]string{}
	for _, d := range documents {
		key := "mesh/" + etcd.Key(resource.ID{Kind: d.Kind, Mesh: "default", Name: d.Name})
		values[key] = ""
		if d.Spec != "" {
			values[key] = d.Universal()
		}
	}
	m.Put(values)
}

// The model of etcd passes the suite that etcd passes (TestSource).
func TestModel(t *testing.T) {
	sourcetest.RunIn(t, synctest.Test, func(t *testing.T) *sourcetest.Subject {
		m := etcdtest.NewModel().Member()
		return &sourcetest.Subject{
			Source:  modelled(t, m),
			Write:   func(_ *testing.T, documents ...sourcetest.Document) { putModel(m, documents...) },
			Lose:    func(*testing.T) { m.Lose() },
			Restore: func(*testing.T) { m.Restore() },
			Forget:  func(*testing.T) { m.Compact() },
		}
	})
}

// A source follows through each fault of the model, but not into an older copy of the store.
func TestModelFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := etcdtest.NewModel().Member()
		putModel(m, sourcetest.Timeout("t", "1s"))
		ctx, cancel := context.WithCancel(t.Context())
		updates, ended := make(chan string, 100), make(chan struct{})
		go func() {
			defer close(ended)
			for u, err := range modelled(t, m).Watch(ctx) {
				if err != nil {
					updates <- err.Error()
					continue
				}
				u.Recording.Discard()
				updates <- names(u.Set)
			}
		}()
		defer func() { cancel(); <-ended }()
		last := func(wait time.Duration) (last string) {
			time.Sleep(wait)
			synctest.Wait()
			for {
				select {
				case last = <-updates:
				default:
					return last
				}
			}
		}
		if got := last(time.Second); got != "t" {
			t.Fatalf("the first state is %q", got)
		}
		backup := m.Backup()
		for name, fault := range map[string]func(){
			"broken":  m.BreakWatches,
			"hangs":   func() { m.HangWatches(true); time.AfterFunc(5*time.Second, func() { m.HangWatches(false) }) },
			"delayed": func() { m.DelayWatches(2 * time.Second); time.AfterFunc(5*time.Second, func() { m.DelayWatches(0) }) },
			"compacted while it is lost": func() {
				m.Lose()
				time.Sleep(time.Second)
				putModel(m, sourcetest.Timeout("between", "1s"))
				m.Compact()
				putModel(m, sourcetest.Deleted(sourcetest.Timeout("between", "")))
				m.Restore()
			},
		} {
			fault()
			putModel(m, sourcetest.Timeout("u", "1s"))
			if got := last(20 * time.Second); got != "t u" {
				t.Errorf("%s: the last state is %q", name, got)
			}
			putModel(m, sourcetest.Deleted(sourcetest.Timeout("u", "")))
			if got := last(20 * time.Second); got != "t" {
				t.Errorf("%s: after the fault, the last state is %q", name, got)
			}
		}
		m.SetBack(backup)
		putModel(m, sourcetest.Timeout("other", "1s"))
		if got := last(20 * time.Second); got == "t other" {
			t.Errorf("an older copy of the store was accepted")
		}
	})
}
