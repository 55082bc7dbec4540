package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/meshmatch/meshmatch/core/source"
	"github.com/meshmatch/meshmatch/core/source/etcd"
	"github.com/meshmatch/meshmatch/core/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/source/sourcetest"
)

// TestFaults makes faults at random while dataplanes are written, and follows the store. Each
// run has a seed: FAULT_SEED=7 repeats one, FAULT_RUNS=1000 makes more. The log of a run
// that fails has its steps.
//
// All dataplanes of a revision have the address of its write, so a follower that ever has
// two addresses had what no revision had.
func TestFaults(t *testing.T) {
	etcdtest.Binary(t)
	first, runs := uint64(1), 10
	if text := os.Getenv("FAULT_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		first, runs = seed, 1
	} else if text := os.Getenv("FAULT_RUNS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		runs = n
	}
	for i := range runs {
		seed := first + uint64(i)
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			newFaults(t, seed).run()
		})
	}
}

// faults is one run.
type faults struct {
	t      *testing.T
	rand   *rand.Rand
	server *etcdtest.Server
	proxy  *etcdtest.Proxy
	client *clientv3.Client
	writes int

	mu   sync.Mutex
	last *source.Update
}

func newFaults(t *testing.T, seed uint64) *faults {
	server := etcdtest.Start(t)
	f := &faults{t: t, rand: rand.New(rand.NewPCG(seed, 0)), server: server, proxy: etcdtest.NewProxy(t, server.Address()), client: server.Client()}
	t.Cleanup(func() { f.client.Close() })
	return f
}

func (f *faults) address() string { return fmt.Sprintf("10.%d.%d.1", f.writes/250, f.writes%250) }

// write writes all dataplanes: in one transaction, or in several with [etcd.Store.Write].
func (f *faults) write() {
	f.writes++
	if f.rand.IntN(3) > 0 {
		var documents []sourcetest.Document
		for i := range 3 {
			documents = append(documents, sourcetest.Dataplane(fmt.Sprintf("d%04d", i), f.address()))
		}
		f.t.Logf("write %d in one transaction", f.writes)
		f.clear()
		put(f.t, f.client, "f", documents...)
		return
	}
	s := open(f.t, f.server.URL("f"))
	read, err := s.Read(f.t.Context())
	if err == nil {
		f.t.Logf("write %d in several transactions", f.writes)
		_, err = s.Write(f.t.Context(), read, changes(150, f.address()))
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// clear deletes all dataplanes except three.
func (f *faults) clear() {
	_, err := f.client.Delete(f.t.Context(), "f/Dataplane/default/-/d0003", clientv3.WithRange("f/Dataplane/default/-/e"))
	if err != nil {
		f.t.Fatal(err)
	}
}

// fault makes one fault, during which something is written, and ends it.
func (f *faults) fault() {
	wait := func() { time.Sleep(time.Duration(f.rand.IntN(700)) * time.Millisecond) }
	switch kind := f.rand.IntN(6); kind {
	case 0:
		f.t.Log("pause the store")
		f.server.Pause()
		wait()
		f.server.Resume()
		f.write()
	case 1:
		f.t.Log("kill the store")
		f.server.Kill()
		wait()
		f.server.Restart()
		f.write()
	case 2, 3:
		f.t.Log("partition")
		f.proxy.Cut()
		f.write()
		if kind == 3 {
			f.t.Log("compaction")
			f.server.Compact()
		}
		wait()
		f.proxy.Mend()
	case 4:
		f.t.Log("slow answers")
		f.proxy.Delay(time.Duration(f.rand.IntN(300)) * time.Millisecond)
		f.write()
		wait()
		f.proxy.Delay(0)
	case 5:
		f.t.Log("compaction")
		f.write()
		f.server.Compact()
	}
}

func (f *faults) run() {
	f.write()
	ctx, stop := context.WithCancel(f.t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	following.Go(func() { f.follow(ctx) })
	for range 6 {
		f.fault()
	}
	f.write()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		f.mu.Lock()
		last := f.last
		f.mu.Unlock()
		if last != nil && len(last.Set.Dataplanes) > 0 && last.Set.Dataplanes[0].Address == f.address() {
			return
		}
		if time.Now().After(limit) {
			f.t.Fatalf("the follower does not end at write %d", f.writes)
		}
	}
}

// follow checks each state.
func (f *faults) follow(ctx context.Context) {
	store := open(f.t, "etcd://"+f.proxy.Address()+"/f")
	for u, err := range (&source.Stored{Store: store, Loader: sourcetest.Loader()}).Watch(ctx) {
		if err != nil {
			if errors.Is(err, source.ErrSetBack) || strings.Contains(err.Error(), etcd.ErrConflict.Error()) {
				f.t.Errorf("got %v", err)
			}
			continue
		}
		if u.Changed() {
			u.Recording.Discard()
			for _, d := range u.Set.Dataplanes {
				if d.Address != u.Set.Dataplanes[0].Address {
					f.t.Errorf("revision %d has the addresses %s and %s", u.Revision, u.Set.Dataplanes[0].Address, d.Address)
					break
				}
			}
		}
		f.mu.Lock()
		if f.last != nil && u.Revision < f.last.Revision {
			f.t.Errorf("revision %d follows %d", u.Revision, f.last.Revision)
		}
		f.last = u
		f.mu.Unlock()
	}
}
