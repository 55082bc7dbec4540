package serve_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/serve"
	"github.com/meshmatch/meshmatch/core/xds/server/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

const (
	webNode = "kri_dp_default___web_"
	apiNode = "kri_dp_default___api_"

	mesh = `
{type: Dataplane, name: web, labels: {app: web}, networking: {address: 127.0.0.2, inbound: [{port: 8080, tags: {kuma.io/service: web}}], outbound: [{port: 9000, tags: {kuma.io/service: api}}]}}
---
{type: Dataplane, name: api, labels: {app: api}, networking: {address: 127.0.0.2, inbound: [{port: 8081, tags: {kuma.io/service: api}}]}}
---
{type: MeshTrafficPermission, name: all, spec: {from: [{default: {action: Allow}}]}}
`
	identity = `
{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
`
)

func timeout(value string) string {
	return fmt.Sprintf("{type: MeshTimeout, name: t, spec: {to: [{default: {connectionTimeout: %s}}]}}", value)
}

// running is a server that serves a directory of its own.
type running struct {
	*serve.Server
	t    testing.TB
	dir  string
	log  *lockedBuffer
	stop func() error // ends the server, and returns what Run returns
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Buffer.Reset()
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func options(dir string, log io.Writer) serve.Options {
	return serve.Options{
		Loader: &resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}, Translators: translators.All(),
		Files: []string{dir}, XDS: "127.0.0.1:0", HTTP: "127.0.0.1:0", Grace: time.Second,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
		Quiet:  10 * time.Millisecond, Rescan: 100 * time.Millisecond, Refresh: 50 * time.Millisecond,
	}
}

// start starts a server of files, and waits until it is ready. The files are those of a
// directory, by name. The server ends with the test.
func start(t *testing.T, files map[string]string, change ...func(*serve.Options)) *running {
	t.Helper()
	r := &running{t: t, dir: t.TempDir(), log: &lockedBuffer{}}
	for name, content := range files {
		r.write(name, content)
	}
	r.run(change...)
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// run starts the server of the directory, and waits until it is ready.
func (r *running) run(change ...func(*serve.Options)) {
	r.t.Helper()
	o := options(r.dir, r.log)
	for _, c := range change {
		c(&o)
	}
	var err error
	if r.Server, err = serve.New(o); err != nil {
		r.t.Fatal(err)
	}
	if err := r.Listen(); err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(20 * time.Second):
			return fmt.Errorf("the server does not end:\n%s", stacks())
		}
	})
	r.eventually("the first publication", func() bool { return strings.Contains(r.log.String(), "ADS is served") })
}

// write replaces a file at once: the file is never seen in part.
func (r *running) write(name, content string) {
	r.t.Helper()
	scratch := filepath.Join(r.t.TempDir(), name)
	if err := os.WriteFile(scratch, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(scratch, filepath.Join(r.dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *running) eventually(what string, condition func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("no %s; the log is\n%s", what, r.log)
		}
	}
}

// client connects the client of a node.
func (r *running) client(node string, config *tls.Config) *xdstest.Client {
	r.t.Helper()
	c, err := r.connect(node, config)
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func (r *running) connect(node string, config *tls.Config) (*xdstest.Client, error) {
	r.t.Helper()
	transport := insecure.NewCredentials()
	if config != nil {
		transport = credentials.NewTLS(config)
	}
	conn, err := grpc.NewClient(r.XDSAddr().String(), grpc.WithTransportCredentials(transport))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	c, err := xdstest.New(r.t.Context(), conn, xdstest.Options{Node: &corev3.Node{Id: node, UserAgentName: "envoy"}})
	if err == nil {
		r.t.Cleanup(c.Close)
	}
	return c, err
}

// get asks over HTTP.
func (r *running) get(path string, config *tls.Config) (status int, body string, err error) {
	client, scheme := http.Client{Transport: &http.Transport{TLSClientConfig: config}}, "http://"
	defer client.CloseIdleConnections()
	if config != nil {
		scheme = "https://"
	}
	response, err := client.Get(scheme + r.HTTPAddr().String() + path)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// expect asks over HTTP, and checks the status and a part of the answer.
func (r *running) expect(path string, status int, part string) {
	r.t.Helper()
	got, body, err := r.get(path, nil)
	if err != nil || got != status || !strings.Contains(body, part) {
		r.t.Errorf("%s: got %d, %v, want %d with %q:\n%s", path, got, err, status, part, body)
	}
}

func stacks() string {
	text := make([]byte, 1<<20)
	return string(text[:runtime.Stack(text, true)])
}

func TestMain(m *testing.M) {
	code := m.Run()
	for deadline := time.Now().Add(20 * time.Second); code == 0; time.Sleep(10 * time.Millisecond) {
		leaked := 0
		for _, goroutine := range strings.Split(stacks(), "\n\n") {
			if strings.Contains(goroutine, "meshmatch/core/") && !strings.Contains(goroutine, "TestMain") {
				leaked++
			}
		}
		if leaked == 0 {
			break
		}
		if time.Now().After(deadline) {
			fmt.Println("goroutines are left:\n" + stacks())
			code = 1
		}
	}
	os.Exit(code)
}
