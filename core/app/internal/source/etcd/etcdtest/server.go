package etcdtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
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
	scheme       string      // of the address for clients
	tls          *tls.Config // of clients; nil: without TLS
	user         string      // of [Server.Client], with the password "secret"; empty: none
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

// StartTLS starts a server with TLS, which requires certificates of clients. The files
// are in PEM, and the configuration is that of clients.
func StartTLS(t testing.TB, certificate, key, ca string, client *tls.Config) *Server {
	t.Helper()
	Binary(t)
	s := newServer(t, 0, "https", []string{"--cert-file", certificate, "--key-file", key, "--client-cert-auth", "--trusted-ca-file", ca})
	s.tls, s.cluster = client, s.name+"=http://"+s.peer
	s.start()
	t.Cleanup(s.Kill)
	s.await()
	return s
}

func newServer(t testing.TB, i int, scheme string, arguments []string) *Server {
	return &Server{t: t, name: fmt.Sprintf("etcd%d", i), dir: t.TempDir(), client: FreeAddress(t), peer: FreeAddress(t), arguments: arguments, scheme: scheme}
}

// Cluster starts a cluster of servers.
func Cluster(t testing.TB, n int, arguments ...string) []*Server {
	t.Helper()
	Binary(t)
	servers := make([]*Server, n)
	var members []string
	for i := range servers {
		servers[i] = newServer(t, i, "http", arguments)
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

// FreeAddress returns an address of loopback at which nothing listens. It may be taken
// until it is used; then the server does not start.
func FreeAddress(t testing.TB) string {
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
func (s *Server) URL(prefix string) string {
	scheme := "etcd"
	if s.tls != nil {
		scheme = "etcds"
	}
	return scheme + "://" + s.client + "/" + prefix
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) start() {
	s.t.Helper()
	arguments := append([]string{
		"--name", s.name, "--data-dir", s.data(), "--log-level", "error",
		"--listen-client-urls", s.scheme + "://" + s.client, "--advertise-client-urls", s.scheme + "://" + s.client,
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
	config := clientv3.Config{Endpoints: []string{s.scheme + "://" + s.client}, TLS: s.tls, Logger: zap.NewNop()}
	if s.user != "" {
		config.Username, config.Password, config.DialTimeout = s.user, "secret", time.Minute
	}
	client, err := clientv3.New(config)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// Users enables authentication. Each user has the password "secret" and may read, or read
// and write, the keys with a prefix; root may do everything.
func (s *Server) Users(prefix string, readers, writers []string) {
	s.t.Helper()
	client := s.Client()
	defer client.Close()
	ctx := context.Background()
	var all error
	do := func(_ any, err error) { all = errors.Join(all, err) }
	for role, kind := range map[string]clientv3.PermissionType{"read": clientv3.PermissionType(clientv3.PermRead), "write": clientv3.PermissionType(clientv3.PermReadWrite)} {
		do(client.RoleAdd(ctx, role))
		do(client.RoleGrantPermission(ctx, role, prefix, clientv3.GetPrefixRangeEnd(prefix), kind))
	}
	for role, users := range map[string][]string{"read": readers, "write": writers, "root": {"root"}} {
		for _, user := range users {
			do(client.UserAdd(ctx, user, "secret"))
			do(client.UserGrantRole(ctx, user, role))
		}
	}
	do(client.AuthEnable(ctx))
	if all != nil {
		s.t.Fatal(all)
	}
	s.user = "root"
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
	backup := filepath.Join(s.t.TempDir(), "backup")
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
