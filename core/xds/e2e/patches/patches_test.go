package patches

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/meshmatch/meshmatch/core/coretest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/xds/e2e/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/fuzz"
)

// proxiesEach is how many dataplanes one Envoy has.
const proxiesEach = 60

// patched is a dataplane with modifications.
type patched struct {
	address       string
	title         string
	modifications string
	opens         bool // as an ingredient says

	refused   []xds.Warning
	bootstrap *bootstrapv3.Bootstrap
}

// TestIngredients tries each ingredient alone.
func TestIngredients(t *testing.T) {
	envoytest.Path(t)
	var list []*patched
	for _, i := range ingredients {
		list = append(list, &patched{title: i.name, modifications: i.modifications, opens: i.opens})
	}
	w := newWorld(t, list)
	w.run(t, list)
	for _, p := range list {
		passed := w.passed(p)
		switch {
		case p.opens && len(passed) == 0:
			t.Errorf("%s: it opens nothing", p.title)
		case p.opens && len(p.refused) == 0:
			t.Errorf("%s: it is not refused, and opens %q", p.title, passed)
		case !p.opens && len(passed) > 0:
			t.Errorf("%s: it opens %q", p.title, passed)
		case !p.opens && len(p.refused) > 0:
			t.Errorf("%s: it is refused: %v", p.title, p.refused)
		}
	}
}

// TestMixtures tries random mixtures of ingredients.
func TestMixtures(t *testing.T) {
	envoytest.Path(t)
	random := rand.New(rand.NewPCG(7, 11))
	served := 0
	for range fuzz.Soak(t) {
		var all, list []*patched
		for range 2 * proxiesEach {
			all = append(all, mixture(random))
		}
		for chunk := range slices.Chunk(all, 200) {
			w := newWorld(t, chunk)
			list = slices.DeleteFunc(chunk, func(p *patched) bool { return len(p.refused) > 0 })
			w.run(t, list)
			for _, p := range list {
				if p.bootstrap == nil {
					continue
				}
				served++
				if passed := w.passed(p); len(passed) > 0 {
					t.Errorf("%s: it is not refused, and opens %q", p.title, passed)
				}
			}
			w.close()
		}
	}
	if served < 20 {
		t.Errorf("%d mixtures were served: that is too few", served)
	}
}

// mixture returns one of a few ingredients, mostly harmless ones.
func mixture(random *rand.Rand) *patched {
	p := &patched{}
	for range 1 + random.IntN(4) {
		i := ingredients[random.IntN(len(ingredients))]
		if i.opens && random.IntN(3) > 0 {
			continue
		}
		for part := range strings.SplitSeq(strings.TrimSpace(i.modifications), "\n- ") { // some of its modifications
			if part = strings.TrimPrefix(part, "- "); random.IntN(5) > 0 {
				p.modifications += "\n- " + part
			}
		}
		p.title += "; " + i.name
	}
	return p
}

// world is the dataplanes of a test and their workloads.
type world struct {
	network *envoytest.Network
	open    []io.Closer
}

// newWorld gives the dataplanes addresses and builds their bootstraps.
func newWorld(t *testing.T, list []*patched) *world {
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{network: network, open: []io.Closer{network}}
	t.Cleanup(w.close)
	var mesh strings.Builder
	mesh.WriteString(permissions)
	for i, p := range list {
		p.address = network.Replace(fmt.Sprintf("127.0.0.%d", i+1))
		fmt.Fprintf(&mesh, dataplane, i, p.address)
		if p.modifications != "" {
			text := strings.ReplaceAll(p.modifications, "ADDR", p.address)
			fmt.Fprintf(&mesh, policy, i, strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
	view := coretest.View(t, mesh.String())
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
	for i, p := range list {
		d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: fmt.Sprintf("d%d", i)})
		built := state.Snapshot(d, xds.Envoy)
		p.refused = built.Refused()
		for _, warning := range built.Warnings() {
			if !warning.Weakens && warning.Policy.Kind == "MeshProxyPatch" {
				t.Logf("%s: %s", p.title, warning)
			}
		}
		if p.bootstrap, err = bootstrap.Static(built, bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:0")}); err != nil {
			t.Fatal(err)
		}
		w.startWorkload(t, p)
	}
	return w
}

const permissions = `
type: MeshTrafficPermission
mesh: default
name: open
spec:
  rules:
  - default:
      allow: [{path: {type: Prefix, value: /open}}]
      deny: [{path: {type: Prefix, value: /open/private}}, {headers: [{name: x-blocked, type: Exact, value: "1"}]}]
`

const dataplane = `---
type: Dataplane
mesh: default
name: d%[1]d
networking:
  address: %[2]s
  inbound:
  - {port: 10000, serviceAddress: %[2]s, servicePort: 10080, protocol: http, tags: {kuma.io/service: s%[1]d}}
  - {port: 10001, serviceAddress: %[2]s, servicePort: 10081, protocol: tcp, tags: {kuma.io/service: s%[1]d}}
`

const policy = `---
type: MeshProxyPatch
mesh: default
name: p%[1]d
spec:
  targetRef: {kind: MeshService, name: s%[1]d}
  default:
    appendModifications:%[2]s
`

// startWorkload starts the workload of a dataplane: it answers each request, and each
// connection to its second port.
func (w *world) startWorkload(t *testing.T, p *patched) {
	app, err := envoytest.NewApp("app", p.address+":10080")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := envoytest.Listen(p.address + ":10081")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer connection.Close()
				_, _ = io.WriteString(connection, "hello\n")
				_ = connection.(*net.TCPConn).CloseWrite()
				// A connection that is closed with unread bytes is reset, and the answer lost.
				_, _ = io.Copy(io.Discard, connection)
			}()
		}
	}()
	w.open = append(w.open, app, listener)
}

func (w *world) close() {
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// run starts Envoys with the bootstraps that Envoy accepts; the others become nil.
func (w *world) run(t *testing.T, list []*patched) {
	directory := t.TempDir()
	var accept func([]*patched)
	accept = func(list []*patched) {
		if len(list) == 0 || envoytest.Validate(envoytest.Path(t), directory, "validate", config(t, list)) == nil {
			return
		}
		if len(list) == 1 {
			list[0].bootstrap = nil
			return
		}
		accept(list[:len(list)/2])
		accept(list[len(list)/2:])
	}
	for chunk := range slices.Chunk(list, proxiesEach) {
		accept(chunk)
		envoytest.Start(t, "envoy", config(t, slices.DeleteFunc(slices.Clone(chunk), func(p *patched) bool { return p.bootstrap == nil })))
	}
}

// config returns one bootstrap of several dataplanes. The only name that they have in common is
// the cluster of the admin interface.
func config(t *testing.T, list []*patched) []byte {
	all := &bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{}}
	for _, p := range list {
		all.Node, all.Admin = p.bootstrap.Node, p.bootstrap.Admin
		all.StaticResources.Listeners = append(all.StaticResources.Listeners, p.bootstrap.StaticResources.Listeners...)
		for _, c := range p.bootstrap.StaticResources.Clusters {
			if !slices.ContainsFunc(all.StaticResources.Clusters, func(known *clusterv3.Cluster) bool { return known.Name == c.Name }) {
				all.StaticResources.Clusters = append(all.StaticResources.Clusters, c)
			}
		}
	}
	data, err := message.JSON(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// denied are requests that the permissions deny, by the port of the dataplane.
func denied(p *patched) map[string]string {
	get := func(path, more string) string {
		return "GET " + path + " HTTP/1.1\r\nhost: x\r\nx-cluster: local/" + p.address + "/10000\r\nx-envoy-original-dst-host: " + p.address + ":10080\r\n" + more + "\r\n"
	}
	return map[string]string{
		"10000 a path":          get("/private", "connection: close\r\n"),
		"10000 dots":            get("/open/./private", "connection: close\r\n"),
		"10000 slashes":         get("/open//private", "connection: close\r\n"),
		"10000 escaped slashes": get("/open/a%2f..%2fprivate", "connection: close\r\n"),
		"10000 a header":        get("/open", "x-blocked: 1\r\nconnection: close\r\n"),
		"10000 an upgrade":      get("/private", "connection: upgrade\r\nupgrade: websocket\r\n"),
		"10001 bytes":           "ping\n",
		"10001 silence":         "",
		"10090 a path":          get("/private", "connection: close\r\n"),
	}
}

// passed returns the requests that were answered although the permissions deny them.
func (w *world) passed(p *patched) (passed []string) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for name, text := range denied(p) {
		wait.Go(func() {
			port, _, _ := strings.Cut(name, " ")
			if answer := send(p.address+":"+port, text); isAnswer(answer) {
				mu.Lock()
				defer mu.Unlock()
				passed = append(passed, name+": "+answer)
			}
		})
	}
	wait.Wait()
	slices.Sort(passed)
	return passed
}

// isAnswer reports whether the first line of an answer is not a denial.
func isAnswer(line string) bool {
	for _, refusal := range []string{"HTTP/1.1 403", "HTTP/1.1 400", "HTTP/1.1 404", "HTTP/1.1 413", "HTTP/1.1 503"} {
		if strings.HasPrefix(line, refusal) {
			return false
		}
	}
	return line != ""
}

// send sends text over a connection and returns the first line of the answer, "" if there
// is none.
func send(address, text string) string {
	connection, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return ""
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, text); err != nil {
		return ""
	}
	wait := 10 * time.Second
	if text == "" {
		wait = 500 * time.Millisecond
	}
	_ = connection.SetReadDeadline(time.Now().Add(wait))
	line, _ := bufio.NewReader(connection).ReadString('\n')
	return strings.TrimSpace(line)
}
