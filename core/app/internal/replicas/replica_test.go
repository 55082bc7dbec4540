package replicas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// replica is a process `meshmatch serve` with a directory for its state.
type replica struct {
	t         testing.TB
	name      string
	xds, http string // addresses
	state     string
	arguments []string // further ones
	variables []string // of the environment

	process *exec.Cmd
	exited  chan struct{} // closed when the process has ended
	log     *buffer       // of all processes
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newReplica starts replica i of a network. It ends with the test.
func newReplica(t testing.TB, network *envoytest.Network, i int, variables []string, arguments ...string) *replica {
	t.Helper()
	r := &replica{
		t: t, log: &buffer{}, name: fmt.Sprint("replica ", i+1), state: t.TempDir(), arguments: arguments, variables: variables,
		xds: network.Replace(fmt.Sprintf("127.0.0.%d:5678", 200+i)), http: network.Replace(fmt.Sprintf("127.0.0.%d:5681", 200+i)),
	}
	t.Cleanup(func() {
		r.kill()
		if t.Failed() {
			text := r.log.String()
			t.Logf("the end of the log of %s:\n%s", r.name, text[max(0, len(text)-3000):])
		}
	})
	r.start()
	return r
}

// start starts a process.
func (r *replica) start() {
	r.t.Helper()
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	r.process = exec.Command(self, slices.Concat([]string{
		"serve", "--semantics", "targetref", "--xds", r.xds, "--http", r.http, "--state", r.state, "--removal-grace", "0s",
	}, r.arguments)...)
	r.process.Env = append(append(os.Environ(), commandVariable+"=1", "GOMAXPROCS=2", "GOGC="), r.variables...)
	r.process.Stderr = r.log
	envoytest.EndWithParent(r.process)
	if err := r.process.Start(); err != nil {
		r.t.Fatal(err)
	}
	exited, process := make(chan struct{}), r.process
	r.exited = exited
	go func() {
		_ = process.Wait() // it is killed in the end
		close(exited)
	}()
}

// ready waits until the replica serves ADS.
func (r *replica) ready() {
	r.t.Helper()
	eventually(r.t, r.name+" is ready", func() bool {
		select {
		case <-r.exited:
			r.t.Fatalf("%s has ended: %s", r.name, r.log)
		default:
		}
		return strings.Contains(r.log.String(), "ADS is served")
	})
}

// kill kills the process.
func (r *replica) kill() {
	_ = r.process.Process.Kill()
	<-r.exited
}

func (r *replica) pause()  { _ = r.process.Process.Signal(syscall.SIGSTOP) }
func (r *replica) resume() { _ = r.process.Process.Signal(syscall.SIGCONT) }

// fill makes each write of the process beyond a few bytes of a file fail, as on a full
// disk. The function ends that.
func (r *replica) fill() (end func()) {
	limit := func(bytes uint64) {
		_ = unix.Prlimit(r.process.Process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}, nil)
	}
	limit(100)
	return func() { limit(unix.RLIM_INFINITY) }
}

// beganWithoutStore reports whether a process began with what an earlier one had kept.
func (r *replica) beganWithoutStore() bool {
	return strings.Contains(r.log.String(), "the store cannot be read at the start")
}

// status returns the answer of /status, or nil if there is none.
func (r *replica) status() *serve.Status {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.http+"/status", nil)
	if err != nil {
		return nil
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	var status serve.Status
	if json.NewDecoder(response.Body).Decode(&status) != nil || status.Store == nil {
		return nil
	}
	return &status
}

// revision returns the revision that the replica serves; 0: it has no answer.
func (r *replica) revision() source.Revision {
	if s := r.status(); s != nil {
		return s.Store.Revision
	}
	return 0
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for limit := time.Now().Add(90 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within 90 s: %s", what)
		}
	}
}
