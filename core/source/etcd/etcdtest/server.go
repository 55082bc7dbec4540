package etcdtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

// Binary returns the path of etcd, from the environment variable ETCD. Without it the
// test is skipped, or fails if CI is true.
func Binary(t testing.TB) string {
	t.Helper()
	path := os.Getenv("ETCD")
	switch {
	case path != "":
		return path
	case os.Getenv("CI") == "true":
		t.Fatal("ETCD is not set; run the test by make e2e-stores")
	}
	t.Skip("ETCD is not set; make e2e-stores builds etcd and runs the test")
	return ""
}

// Server is a member of a cluster of etcd. It ends with its test.
type Server struct {
	t            testing.TB
	name, dir    string
	client, peer string // addresses
	cluster      string // the flag --initial-cluster
	arguments    []string
	command      *exec.Cmd
	exited       chan struct{} // closed when the process has ended
	log          *bytes.Buffer
	stopped      bool
}

// Start starts a server with its own data. The further arguments are flags of etcd.
func Start(t testing.TB, arguments ...string) *Server {
	t.Helper()
	return Cluster(t, 1, arguments...)[0]
}

// Cluster starts a cluster of servers.
func Cluster(t testing.TB, n int, arguments ...string) []*Server {
	t.Helper()
	Binary(t)
	servers := make([]*Server, n)
	var members []string
	for i := range servers {
		servers[i] = &Server{t: t, name: fmt.Sprintf("etcd%d", i), dir: t.TempDir(), client: freeAddress(t), peer: freeAddress(t), arguments: arguments}
		members = append(members, servers[i].name+"=http://"+servers[i].peer)
	}
	for _, s := range servers {
		s.cluster = strings.Join(members, ",")
		s.start()
		t.Cleanup(s.Kill)
	}
	for _, s := range servers {
		s.await()
	}
	return servers
}

// freeAddress returns an address of loopback at which nothing listens. It may be taken until it is
// used; then the server does not start.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Address returns the address of the server for clients.
func (s *Server) Address() string { return s.client }

// URL returns the address of a prefix for -f.
func (s *Server) URL(prefix string) string { return "etcd://" + s.client + "/" + prefix }

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) start() {
	s.t.Helper()
	arguments := append([]string{
		"--name", s.name, "--data-dir", s.data(), "--log-level", "error",
		"--listen-client-urls", "http://" + s.client, "--advertise-client-urls", "http://" + s.client,
		"--listen-peer-urls", "http://" + s.peer, "--initial-advertise-peer-urls", "http://" + s.peer,
		"--initial-cluster", s.cluster, "--unsafe-no-fsync",
	}, s.arguments...)
	s.log = new(bytes.Buffer)
	s.command = exec.Command(Binary(s.t), arguments...)
	s.command.Stdout, s.command.Stderr = s.log, s.log
	endWithParent(s.command)
	if err := s.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	exited := make(chan struct{})
	s.exited, s.stopped = exited, false
	command := s.command
	go func() {
		_ = command.Wait() // a server is killed in the end
		close(exited)
	}()
}

// await waits until the server answers.
func (s *Server) await() {
	s.t.Helper()
	client := s.Client()
	defer client.Close()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := client.Get(ctx, "-")
		cancel()
		if err == nil {
			return
		}
		select {
		case <-s.exited:
			s.t.Fatalf("etcd has ended: %s", s.log)
		default:
		}
		if time.Now().After(limit) {
			s.t.Fatalf("etcd does not answer: %v", err)
		}
	}
}

// Client returns a client of this server alone. The caller closes it.
func (s *Server) Client() *clientv3.Client {
	s.t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://" + s.client}, Logger: zap.NewNop()})
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// Kill kills the server and waits until it has ended.
func (s *Server) Kill() {
	if s.stopped {
		return
	}
	s.stopped = true
	_ = s.command.Process.Kill()
	<-s.exited
}

// Restart starts a server again that was killed.
func (s *Server) Restart() { Restart(s) }

// Restart starts servers again that were killed. A member of a cluster answers when most
// members run.
func Restart(servers ...*Server) {
	for _, s := range servers {
		s.start()
	}
	for _, s := range servers {
		s.await()
	}
}

// Pause stops the process without ending it, until Resume.
func (s *Server) Pause() { _ = s.command.Process.Signal(syscall.SIGSTOP) }

// Resume ends [Server.Pause].
func (s *Server) Resume() { _ = s.command.Process.Signal(syscall.SIGCONT) }

// Compact forgets all revisions except the newest one.
func (s *Server) Compact() {
	s.t.Helper()
	client := s.Client()
	defer client.Close()
	response, err := client.Get(context.Background(), "-")
	if err == nil {
		_, err = client.Compact(context.Background(), response.Header.Revision, clientv3.WithCompactPhysical())
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// Backup kills the server, copies its data, and starts it again. The returned function
// puts the copy back in the same way.
func (s *Server) Backup() (restore func()) {
	s.t.Helper()
	backup := filepath.Join(s.dir, "backup")
	s.Kill()
	if err := os.CopyFS(backup, os.DirFS(s.data())); err != nil {
		s.t.Fatal(err)
	}
	s.Restart()
	return func() {
		s.Kill()
		if err := os.RemoveAll(s.data()); err != nil {
			s.t.Fatal(err)
		}
		if err := os.CopyFS(s.data(), os.DirFS(backup)); err != nil {
			s.t.Fatal(err)
		}
		s.Restart()
	}
}
