package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// open returns the store of an address.
func open(t testing.TB, url string) *etcd.Store {
	t.Helper()
	address, err := etcd.ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	s, err := etcd.New(etcd.Options{Address: *address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// put writes documents in one transaction, as another program would.
func put(t testing.TB, client *clientv3.Client, prefix string, documents ...sourcetest.Document) {
	t.Helper()
	var ops []clientv3.Op
	for _, d := range documents {
		key := prefix + "/" + etcd.Key(resource.ID{Kind: d.Kind, Mesh: "default", Name: d.Name})
		if d.Spec == "" {
			ops = append(ops, clientv3.OpDelete(key))
		} else {
			ops = append(ops, clientv3.OpPut(key, d.Universal()))
		}
	}
	if _, err := client.Txn(context.Background()).Then(ops...).Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestSource(t *testing.T) {
	server := etcdtest.Start(t)
	client := server.Client()
	t.Cleanup(func() { client.Close() })
	n := 0
	sourcetest.Run(t, func(t *testing.T) *sourcetest.Subject {
		n++
		prefix := fmt.Sprintf("mesh/%d", n)
		proxy := etcdtest.NewProxy(t, server.Address())
		return &sourcetest.Subject{
			Source:  &source.Stored{Store: open(t, "etcd://"+proxy.Address()+"/"+prefix), Loader: sourcetest.Loader()},
			Write:   func(t *testing.T, documents ...sourcetest.Document) { put(t, client, prefix, documents...) },
			Lose:    func(*testing.T) { proxy.Cut() },
			Restore: func(*testing.T) { proxy.Mend() },
			Forget:  func(*testing.T) { server.Compact() },
		}
	})
}

// until reads a source until a condition holds.
func until(t *testing.T, s source.Source, condition func(*source.Update, error) bool) *source.Update {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var last error
	for update, err := range s.Watch(ctx) {
		if condition(update, err) {
			return update
		}
		last = errors.Join(last, err)
	}
	t.Fatalf("the condition does not hold; the errors are %v", last)
	return nil
}

func first(t *testing.T, s *etcd.Store) *source.Update {
	t.Helper()
	return until(t, &source.Stored{Store: s, Loader: sourcetest.Loader()}, func(u *source.Update, _ error) bool { return u != nil })
}

func names(set *resource.Set) string {
	var names []string
	for _, d := range set.Dataplanes {
		names = append(names, d.Name)
	}
	for _, p := range set.Policies {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// A key that does not belong to its document is an error with a position.
func TestKeys(t *testing.T) {
	server := etcdtest.Start(t)
	client := server.Client()
	defer client.Close()
	ctx := t.Context()
	document := sourcetest.Dataplane("web", "10.0.0.1")
	for key, want := range map[string]string{
		"Dataplane/default/-/web":   "",
		"Dataplane/default/-/other": `is of Dataplane "web" in mesh "default", and its key of Dataplane "other"`,
		"Dataplane/default//web":    "an empty part is -",
		"Dataplane/default/web":     "four parts",
		"Dataplane/default/-/w%65b": "is written Dataplane/default/-/web",
	} {
		put, err := client.Put(ctx, "m/"+key, document.Universal())
		if err != nil {
			t.Fatal(err)
		}
		u := first(t, open(t, server.URL("m")))
		switch {
		case want == "" && (len(u.Invalid) > 0 || names(u.Set) != "web"):
			t.Errorf("%s: %v", key, u.Invalid)
		case want != "" && len(u.Invalid) != 1:
			t.Errorf("%s: it is not reported", key)
		case want != "":
			line := u.Invalid[0].Errors[0].Error()
			if at := fmt.Sprintf("etcd://m/%s@%d", key, put.Header.Revision); !strings.HasPrefix(line, at) || !strings.Contains(line, want) {
				t.Errorf("got %s, want %s at %s", line, want, at)
			}
		}
		if _, err := client.Delete(ctx, "m/"+key); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[resource.ID]string{
		{Kind: "Mesh", Mesh: "m", Name: "m"}:                             "Mesh/m/-/m",
		{Kind: "MeshTimeout", Mesh: "m", Namespace: "-", Name: "a/b c%"}: "MeshTimeout/m/%2D/a%2Fb%20c%25",
	} {
		if got := etcd.Key(id); got != want {
			t.Errorf("the key of %v is %s, want %s", id, got, want)
		}
	}
}

// changes are n changes of dataplanes.
func changes(n int, address string) []etcd.Write {
	var list []etcd.Write
	for i := range n {
		d := sourcetest.Dataplane(fmt.Sprintf("d%04d", i), address)
		list = append(list, etcd.Write{ID: resource.ID{Kind: d.Kind, Mesh: "default", Name: d.Name}, Document: []byte(d.Universal())})
	}
	return list
}

// All of a write arrives at once, in one transaction or in several. Nothing is written if a
// key has changed.
func TestWrite(t *testing.T) {
	server := etcdtest.Start(t)
	client := server.Client()
	defer client.Close()
	for _, n := range []int{1, 127, 128, 129, 1000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			prefix := fmt.Sprint("w", n)
			s := open(t, server.URL(prefix))
			read, err := s.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			sizes := make(chan int, 100)
			started := make(chan struct{})
			go func() {
				defer close(sizes)
				for u := range (&source.Stored{Store: open(t, server.URL(prefix)), Loader: sourcetest.Loader()}).Watch(ctx) {
					if u == nil {
						continue
					}
					if len(u.Set.Dataplanes) == 0 && started != nil {
						close(started)
						started = nil
					}
					sizes <- len(u.Set.Dataplanes)
				}
			}()
			<-started
			revision, err := s.Write(t.Context(), read, changes(n, "10.0.0.1"))
			if err != nil {
				t.Fatal(err)
			}
			for size := range sizes {
				if size == n {
					break
				}
				if size != 0 {
					t.Fatalf("a follower had %d of %d dataplanes", size, n)
				}
			}
			stop()
			if again, err := s.Write(t.Context(), read, changes(n, "10.0.0.2")); !errors.Is(err, etcd.ErrConflict) {
				t.Errorf("a second write of the same state: %d, %v", again, err)
			}
			u := first(t, open(t, server.URL(prefix)))
			if u.Set.Dataplanes[0].Address != "10.0.0.1" || len(u.Set.Dataplanes) != n || int64(u.Revision) < revision {
				t.Errorf("after the conflict there are %d dataplanes at revision %d", len(u.Set.Dataplanes), u.Revision)
			}
		})
	}
}

// What was written before a conflict in a later transaction is undone.
func TestWriteUndone(t *testing.T) {
	server := etcdtest.Start(t)
	client := server.Client()
	defer client.Close()
	s := open(t, server.URL("u"))
	read, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put(t, client, "u", sourcetest.Dataplane("d0299", "10.0.0.9"))
	if _, err := s.Write(t.Context(), read, changes(300, "10.0.0.1")); !errors.Is(err, etcd.ErrConflict) || !strings.Contains(err.Error(), "d0299") {
		t.Errorf("got %v", err)
	}
	u := first(t, open(t, server.URL("u")))
	if names(u.Set) != "d0299" || u.Set.Dataplanes[0].Address != "10.0.0.9" {
		t.Errorf("the state is %s", names(u.Set))
	}
}

// If a transaction of a write has no answer, it may have been committed all the same. Then
// it is undone, too.
func TestWriteInDoubt(t *testing.T) {
	server := etcdtest.Start(t)
	client := server.Client()
	t.Cleanup(func() { client.Close() })
	for part, watched := range map[string]string{"first": "-/apply", "second": "Dataplane/default/-/d0126", "third": "Dataplane/default/-/d0253"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			prefix := "doubt-" + part
			proxy := etcdtest.NewProxy(t, server.Address())
			s := open(t, "etcd://"+proxy.Address()+"/"+prefix)
			read, err := s.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			proxy.Delay(100 * time.Millisecond) // while an answer waits, the next transaction is not sent
			seen := client.Watch(t.Context(), prefix+"/"+watched)
			go func() {
				<-seen
				proxy.Delay(3500 * time.Millisecond) // more than the limit of a request
				time.Sleep(500 * time.Millisecond)
				proxy.Delay(0)
			}()
			_, failure := s.Write(t.Context(), read, changes(300, "10.0.0.1"))
			after, err := open(t, server.URL(prefix)).Read(t.Context())
			switch {
			case errors.Is(err, etcd.ErrInProgress):
				t.Errorf("the write is not ended: %v", failure)
			case err != nil:
				t.Fatal(err)
			case failure == nil:
				t.Error("each transaction had its answer")
			case after.Interrupted || len(after.Objects) != 0:
				t.Errorf("%d of 300 resources are stored; interrupted: %v; the error is %v", len(after.Objects), after.Interrupted, failure)
			}
		})
	}
}

// The error of a write of one transaction without an answer says that it may be written.
func TestOneWriteInDoubt(t *testing.T) {
	server := etcdtest.Start(t)
	proxy := etcdtest.NewProxy(t, server.Address())
	s := open(t, "etcd://"+proxy.Address()+"/one")
	read, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	proxy.Delay(4 * time.Second)
	_, err = s.Write(t.Context(), read, changes(1, "10.0.0.1"))
	if err == nil || !strings.HasSuffix(err.Error(), "it may be written all the same: apply again") || !strings.Contains(err.Error(), "a connection can be made") {
		t.Errorf("the error is %v", err)
	}
	if u := first(t, open(t, server.URL("one"))); len(u.Set.Dataplanes) != 1 {
		t.Errorf("%d dataplanes are written", len(u.Set.Dataplanes))
	}
}

// While the key of a write exists, nothing is applied. After its lease has ended, the last state
// stays until another write is complete.
func TestInterruptedWrite(t *testing.T) {
	server := etcdtest.Start(t)
	client := server.Client()
	defer client.Close()
	put(t, client, "i", sourcetest.Dataplane("a", "10.0.0.1"))
	type state struct {
		names string
		err   error
	}
	states := make(chan state, 100)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for u, err := range (&source.Stored{Store: open(t, server.URL("i")), Loader: sourcetest.Loader()}).Watch(ctx) {
			if err != nil {
				states <- state{err: err}
			} else if u.Changed() {
				states <- state{names: names(u.Set)}
			}
		}
	}()
	if s := <-states; s.names != "a" {
		t.Fatalf("got %+v", s)
	}
	// A key without a lease is not of an apply, and holds nothing: it would never end.
	if _, err := client.Put(ctx, "i/-/apply", ""); err != nil {
		t.Fatal(err)
	}
	put(t, client, "i", sourcetest.Dataplane("a2", "10.0.0.1"))
	if s := <-states; s.names != "a a2" {
		t.Fatalf("beside a key without a lease: %+v", s)
	}
	if u := first(t, open(t, server.URL("i"))); names(u.Set) != "a a2" {
		t.Fatalf("a follower that starts has %s", names(u.Set))
	}
	if _, err := client.Delete(ctx, "i/-/apply"); err != nil {
		t.Fatal(err)
	}
	lease, err := client.Grant(ctx, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(ctx, "i/-/apply", "", clientv3.WithLease(lease.ID)); err != nil {
		t.Fatal(err)
	}
	put(t, client, "i", sourcetest.Dataplane("b", "10.0.0.1"))
	if s := <-states; !errors.Is(s.err, source.ErrIncomplete) || !strings.Contains(s.err.Error(), "lease") {
		t.Fatalf("after the lease: %+v", s)
	}
	put(t, client, "i", sourcetest.Dataplane("c", "10.0.0.1"))
	s := open(t, server.URL("i"))
	read, err := s.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(ctx, read, changes(200, "10.0.0.1")); err != nil {
		t.Fatal(err)
	}
	if s := <-states; len(s.names) < 200 || !strings.HasPrefix(s.names, "a a2 b c d") {
		t.Errorf("after the complete write: %+v", s)
	}
}

// A store with older data is reported, and its state is used only if that is accepted.
func TestSetBack(t *testing.T) {
	for _, accept := range []bool{false, true} {
		t.Run(fmt.Sprint(accept), func(t *testing.T) {
			server := etcdtest.Start(t)
			client := server.Client()
			defer client.Close()
			put(t, client, "b", sourcetest.Dataplane("a", "10.0.0.1"))
			restore := server.Backup()
			put(t, client, "b", sourcetest.Dataplane("b", "10.0.0.1"))
			put(t, client, "b", sourcetest.Dataplane("c", "10.0.0.1"))
			set := false
			u := until(t, &source.Stored{Store: open(t, server.URL("b")), Loader: sourcetest.Loader(), AcceptRollback: accept}, func(u *source.Update, err error) bool {
				if u != nil && !set && names(u.Set) == "a b c" {
					set = true
					restore()
					return false
				}
				if !accept {
					return errors.Is(err, source.ErrSetBack)
				}
				return u != nil && names(u.Set) == "a"
			})
			if accept == (u == nil) {
				t.Errorf("got %v", u)
			}
		})
	}
}

// The same as TestSetBackDuringLoss with a server, while a connection is cut for a moment: the watch goes
// on without an error, with another history.
func TestSetBackBehindConnection(t *testing.T) {
	server := etcdtest.Start(t)
	proxy := etcdtest.NewProxy(t, server.Address())
	client := server.Client()
	defer client.Close()
	put(t, client, "b", sourcetest.Dataplane("a", "10.0.0.1"))
	restore := server.Backup()
	put(t, client, "b", sourcetest.Dataplane("b", "10.0.0.1"))
	set := false
	u := until(t, &source.Stored{Store: open(t, "etcd://"+proxy.Address()+"/b"), Loader: sourcetest.Loader()}, func(u *source.Update, err error) bool {
		if u != nil && !set && names(u.Set) == "a b" {
			set = true
			proxy.Cut()
			restore()
			for range 5 {
				put(t, client, "b", sourcetest.Dataplane("c", "10.0.0.1"))
			}
			proxy.Mend()
			return false
		}
		return errors.Is(err, source.ErrSetBack) || u != nil && names(u.Set) != "a b"
	})
	if u != nil {
		t.Errorf("the state is %s", names(u.Set))
	}
}
