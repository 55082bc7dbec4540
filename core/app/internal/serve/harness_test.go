package serve_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
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

// running is a server with its own directory of files.
//
// Most tests run it in a bubble of package synctest. Files and loads are real,
// connections are in memory, and the clock advances only when all goroutines wait. The
// server gets no notifications: it finds changed files by scans.
type running struct {
	*serve.Server
	t    testing.TB
	dir  string
	log  *serve.LockedBuffer
	real bool         // outside of bubbles: real TCP, clock and file notifications
	stop func() error // ends the server, and returns what Run returns

	listeners map[string]*serve.MemoryListener // by address
	dialled   atomic.Int32
}

func options(dir string, log io.Writer) serve.Options {
	return serve.Options{
		Loader: &resource.Loader{Kinds: kinds.All(), Documents: slices.Concat(ocm.Documents(), variant.Documents())}, Translators: translators.All(),
		Files: []string{dir}, XDS: "127.0.0.1:0", HTTP: "127.0.0.1:0", Grace: time.Second,
		Logger: slog.New(slog.NewTextHandler(log, nil)),
		Quiet:  10 * time.Millisecond, Rescan: 100 * time.Millisecond, Refresh: 50 * time.Millisecond,
	}
}

// silent sends no notifications.
type silent struct{}

func (silent) Changed() <-chan struct{} { return nil }
func (silent) Watch([]string)           {}

// start writes files, by name, to a directory. It starts a server of them in the bubble of
// the test, and waits until it is ready. The server ends with the test.
func start(t *testing.T, files map[string]string, change ...func(*serve.Options)) *running {
	t.Helper()
	return startAs(&running{t: t}, files, change...)
}

// startReal is start outside of bubbles.
func startReal(t *testing.T, files map[string]string, change ...func(*serve.Options)) *running {
	t.Helper()
	return startAs(&running{t: t, real: true}, files, change...)
}

func startAs(r *running, files map[string]string, change ...func(*serve.Options)) *running {
	t := r.t
	t.Helper()
	r.dir, r.log = t.TempDir(), &serve.LockedBuffer{}
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
	if !r.real {
		o.Notifications = silent{}
	}
	if r.Server, err = serve.New(o); err != nil {
		r.t.Fatal(err)
	}
	if r.real {
		err = r.Listen()
	} else {
		r.listeners = map[string]*serve.MemoryListener{}
		var health net.Listener
		if o.Health != "" {
			health = r.listen(o.Health)
		}
		r.ServeOn(r.listen(o.XDS), r.listen(o.HTTP), health)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(r.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	r.eventually("the first publication", func() bool { return strings.Contains(r.log.String(), "ADS is served") })
}

// listen returns a listener in memory at the IP address of an address.
func (r *running) listen(address string) net.Listener {
	host, _, _ := net.SplitHostPort(address)
	l := serve.NewMemoryListener(net.ParseIP(host))
	r.listeners[l.Addr().String()] = l
	return l
}

// dial connects to an address of the server. Each call is a new client.
func (r *running) dial(ctx context.Context, address string) (net.Conn, error) {
	if l := r.listeners[address]; l != nil {
		return l.Dial(ctx, fmt.Sprint("127.0.0.1:", 10_000+r.dialled.Add(1)))
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// transport returns the HTTP transport of a client; if the config is nil, without TLS.
func (r *running) transport(config *tls.Config) *http.Transport {
	return &http.Transport{
		TLSClientConfig: config,
		DialContext:     func(ctx context.Context, _, address string) (net.Conn, error) { return r.dial(ctx, address) },
	}
}

// write replaces a file atomically, so that no scan reads a part of it. Its modification
// time comes from the clock of the test.
func (r *running) write(name, content string) {
	r.t.Helper()
	scratch := filepath.Join(r.t.TempDir(), name)
	if err := os.WriteFile(scratch, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
	if now := time.Now(); os.Chtimes(scratch, now, now) != nil {
		r.t.Fatal("the modification time is not set")
	}
	if err := os.Rename(scratch, filepath.Join(r.dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

// eventually waits until a condition holds. In a bubble it waits for at most a minute of
// its clock, otherwise for at most the time of the test.
func (r *running) eventually(what string, condition func() bool) {
	r.t.Helper()
	var ctx context.Context
	if r.real {
		ctx = envoytest.Limit(r.t)
	} else {
		minute, cancel := context.WithTimeout(r.t.Context(), time.Minute)
		defer cancel()
		ctx = minute
	}
	for ; !r.settles(condition); time.Sleep(5 * time.Millisecond) {
		if ctx.Err() != nil {
			r.t.Fatalf("no %s; the log is\n%s", what, r.log)
		}
	}
}

// settles reports whether a condition holds. In a bubble it first waits until the server
// and its clients are idle.
func (r *running) settles(condition func() bool) bool {
	if !r.real {
		synctest.Wait()
	}
	return condition()
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
	return r.connectAs(&corev3.Node{Id: node, UserAgentName: "envoy"}, config)
}

func (r *running) connectAs(node *corev3.Node, config *tls.Config) (*xdstest.Client, error) {
	r.t.Helper()
	transport := insecure.NewCredentials()
	if config != nil {
		transport = credentials.NewTLS(config)
	}
	conn, err := grpc.NewClient("passthrough:"+r.XDSAddr().String(), grpc.WithTransportCredentials(transport), grpc.WithContextDialer(r.dial))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { conn.Close() })
	c, err := xdstest.New(r.t.Context(), conn, xdstest.Options{Node: node})
	if err == nil {
		r.t.Cleanup(c.Close)
	}
	return c, err
}

// get sends a request over HTTP.
func (r *running) get(path string, config *tls.Config) (status int, body string, err error) {
	client, scheme := http.Client{Transport: r.transport(config)}, "http://"
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

// expect sends a request over HTTP, and checks the status and a part of the answer.
func (r *running) expect(path string, status int, part string) {
	r.t.Helper()
	got, body, err := r.get(path, nil)
	if err != nil || got != status || !strings.Contains(body, part) {
		r.t.Errorf("%s: got %d, %v, want %d with %q:\n%s", path, got, err, status, part, body)
	}
}
