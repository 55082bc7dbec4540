package kubetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
)

// The tokens of the users of a cluster.
const (
	AdminToken = "admin-token" // of a user who may do everything
	NobodyUser = "nobody"      // a user without any role
)

// Cluster is a running cluster.
type Cluster struct {
	// URL is the address of the API server.
	URL string
	// Kubeconfig is a file with the contexts "admin" and "nobody"; admin is the current
	// one.
	Kubeconfig string
	// Kubectl is the program.
	Kubectl string

	t         testing.TB
	dir       string
	etcd      *etcdtest.Server
	apiserver string // the path of the program
	client    *http.Client
	server    *exec.Cmd
}

// Start starts a cluster, which ends with the test. Without programs the test is skipped,
// or fails in CI.
func Start(t testing.TB) *Cluster {
	t.Helper()
	bin := os.Getenv("KUBERNETES")
	switch {
	case bin != "":
	case os.Getenv("CI") == "true":
		t.Fatal("KUBERNETES is not set; run make e2e-stores")
	default:
		t.Skip("KUBERNETES is not set; make e2e-stores builds the programs and runs this test")
	}
	c := &Cluster{t: t, dir: t.TempDir(), Kubectl: filepath.Join(bin, "kubectl"), apiserver: filepath.Join(bin, "kube-apiserver"), etcd: etcdtest.Start(t)}
	c.Kubeconfig = filepath.Join(c.dir, "kubeconfig")
	c.prepare()
	c.StartServer()
	return c
}

// run starts the API server with options, each a name and a value. Its output is shown if the
// test fails. It ends with the test.
func (c *Cluster) run(options ...string) *exec.Cmd {
	c.t.Helper()
	log, err := os.CreateTemp(c.dir, "kube-apiserver-*.log")
	if err != nil {
		c.t.Fatal(err)
	}
	var args []string
	for pair := range slices.Chunk(options, 2) {
		args = append(args, "-"+"-"+pair[0]+"="+pair[1])
	}
	cmd := exec.Command(c.apiserver, args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, err := os.ReadFile(log.Name()); c.t.Failed() && err == nil {
			c.t.Logf("the end of the log of the API server:\n%s", text[max(0, len(text)-4000):])
		}
	})
	return cmd
}

// Etcd returns the URL of the etcd of the API server.
func (c *Cluster) Etcd() string { return "http://" + c.etcd.Address() }

// StopEtcd kills the etcd.
func (c *Cluster) StopEtcd() { c.etcd.Kill() }

// StartEtcd starts the etcd again, after [Cluster.StopEtcd].
func (c *Cluster) StartEtcd() { c.etcd.Restart() }

// PauseEtcd stops the etcd as a debugger does; ResumeEtcd lets it continue.
func (c *Cluster) PauseEtcd() { c.etcd.Pause() }

// ResumeEtcd continues the etcd after [Cluster.PauseEtcd].
func (c *Cluster) ResumeEtcd() { c.etcd.Resume() }

// prepare makes the files of the API server.
func (c *Cluster) prepare() {
	c.t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		c.t.Fatal(err)
	}
	private := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	c.write("service-account.key", private)
	c.write("tokens.csv", []byte(AdminToken+",admin,admin,system:masters\nnobody-token,"+NobodyUser+",nobody\n"))
	c.URL = "https://" + etcdtest.FreeAddress(c.t)
	c.write("kubeconfig", fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: admin
clusters:
  - {name: test, cluster: {server: %q, certificate-authority: %q}}
users:
  - {name: admin, user: {token: %s}}
  - {name: nobody, user: {token: nobody-token}}
contexts:
  - {name: admin, context: {cluster: test, user: admin}}
  - {name: nobody, context: {cluster: test, user: nobody}}
`, c.URL, c.path("certificates/apiserver.crt"), AdminToken))
}

// StartServer starts the API server, and waits until it is ready. It is needed after
// [Cluster.StopServer] only.
func (c *Cluster) StartServer() {
	c.t.Helper()
	_, port, _ := net.SplitHostPort(c.URL[len("https://"):])
	c.server = c.run("etcd-servers", c.Etcd(), "secure-port", port, "bind-address", "127.0.0.1",
		"cert-dir", c.path("certificates"), "endpoint-reconciler-type", "none", "service-cluster-ip-range", "10.0.0.0/24",
		"service-account-issuer", "https://kubernetes.default.svc", "service-account-key-file", c.path("service-account.key"),
		"service-account-signing-key-file", c.path("service-account.key"), "token-auth-file", c.path("tokens.csv"),
		"authorization-mode", "RBAC", "disable-admission-plugins", "ServiceAccount")
	c.Await()
}

// Await waits until the API server is ready.
func (c *Cluster) Await() {
	c.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		if status, _, err := c.Try(http.MethodGet, "/readyz", nil); err == nil && status == http.StatusOK {
			return
		} else if time.Now().After(deadline) {
			c.t.Fatalf("the API server is not ready: %d, %v", status, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// BackUp copies the data of the etcd while neither it nor the API server runs. The returned function puts
// the copy back in the same way; before starts while the etcd runs, and the API server does not.
func (c *Cluster) BackUp() (restore func(before func())) {
	c.t.Helper()
	c.StopServer()
	putBack := c.etcd.Backup()
	c.StartServer()
	return func(before func()) {
		c.t.Helper()
		c.StopServer()
		putBack()
		before()
		c.StartServer()
	}
}

// StopServer kills the API server.
func (c *Cluster) StopServer() {
	_ = c.server.Process.Kill()
	_, _ = c.server.Process.Wait()
}

// Pause stops the API server as a debugger does; Resume lets it continue.
func (c *Cluster) Pause() { c.signal(syscall.SIGSTOP) }

// Resume continues the API server after [Cluster.Pause].
func (c *Cluster) Resume() { c.signal(syscall.SIGCONT) }

func (c *Cluster) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.server.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) write(name string, content []byte) {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

// Do sends a request as the admin, and returns the status and the body of the response.
func (c *Cluster) Do(method, path string, body []byte) (int, []byte) {
	c.t.Helper()
	status, answer, err := c.Try(method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return status, answer
}

// Try is [Cluster.Do] that returns an error, such as while the API server is away.
func (c *Cluster) Try(method, path string, body []byte) (int, []byte, error) {
	if c.client == nil {
		ca, err := os.ReadFile(c.path("certificates/apiserver.crt"))
		if err != nil {
			return 0, nil, err // the server has not written it yet
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(ca) {
			return 0, nil, errors.New("the API server has not written its certificate yet")
		}
		c.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}, Timeout: time.Minute}
	}
	request, err := http.NewRequestWithContext(context.Background(), method, c.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+AdminToken)
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := c.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}
