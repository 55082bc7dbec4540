package etcd_test

import (
	"context"
	"fmt"
	"strings"
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

// While a source cannot read a store, the store is set back, and its revision passes the one that was
// read. The states of two histories are not mixed: nothing of the new one is used.
func TestSetBackDuringLoss(t *testing.T) {
	changes := map[string][]sourcetest.Document{
		"another object": {sourcetest.Timeout("other", "1s")},
		"the objects":    {sourcetest.Timeout("t", "9s"), sourcetest.Timeout("u", "9s")},
		"a deletion":     {sourcetest.Deleted(sourcetest.Timeout("t", ""))},
		"nothing here":   nil,
	}
	for name, lost := range map[string]sourcetest.Document{"an object": sourcetest.Timeout("u", "1s"), "an edit": sourcetest.Timeout("t", "2s"), "a deletion": sourcetest.Deleted(sourcetest.Timeout("t", ""))} {
		for with, documents := range changes {
			for _, same := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, then %s/%v", name, with, same), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						m := etcdtest.NewModel().Member()
						putModel(m, sourcetest.Timeout("t", "1s"), sourcetest.Timeout("v", "1s"))
						backup := m.Backup()
						putModel(m, lost)
						ctx, cancel := context.WithCancel(t.Context())
						var set, reported string
						ended := make(chan struct{})
						go func() {
							defer close(ended)
							for u, err := range modelled(t, m).Watch(ctx) {
								if err != nil {
									reported += err.Error()
									continue
								}
								set = texts(u.Set)
							}
						}()
						time.Sleep(time.Second)
						synctest.Wait() // for set
						before := set
						m.Lose()
						if time.Sleep(10 * time.Second); same {
							m.PutBack(backup)
						} else {
							m.SetBack(backup)
						}
						for range 5 {
							putModel(m, documents...)
							m.Model.Put(map[string]string{"elsewhere/key": "value"})
						}
						m.Restore()
						time.Sleep(time.Minute)
						cancel()
						<-ended
						again := name == "a deletion" && with == "a deletion" // both histories have the same keys
						if before == "" || set != before || !again && !strings.Contains(reported, source.ErrSetBack.Error()) {
							t.Errorf("the state is %s, and was %s; reported is %s", set, before, reported)
						}
					})
				})
			}
		}
	}
}

func texts(set *resource.Set) string {
	var list []string
	for _, p := range set.Policies {
		list = append(list, fmt.Sprintf("%s@%s", p.Name, p.Pos.File))
	}
	return fmt.Sprint(list)
}
