package patches

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/coretest"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
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
	way           *way // makes the modifications, if it is not nil
	opens         bool // as an ingredient says

	refused  []xds.Warning
	snapshot *snapshot.Snapshot
	reached  atomic.Int32 // connections to the second port of the workload, whose clients are all denied
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
	passedOf := w.passed(list)
	older := !envoytest.Client(t).Has(capability.DelayedConnect)
	for i, p := range list {
		passed := passedOf[i]
		switch {
		case p.opens && len(passed) == 0 && older: // its TCP permissions decide in the handshake
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
			passedOf := w.passed(list)
			for i, p := range list {
				served++
				if passed := passedOf[i]; len(passed) > 0 {
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
	view := coretest.View(t, w.mesh(t, list))
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
	for i, p := range list {
		d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: fmt.Sprintf("d%d", i)})
		p.snapshot = state.SnapshotFor(d, envoytest.Client(t))
		p.refused = p.snapshot.Refused()
		for _, warning := range p.snapshot.Warnings() {
			if !warning.Weakens && warning.Policy.Kind == "MeshProxyPatch" {
				t.Logf("%s: %s", p.title, warning)
			}
		}
		w.startWorkload(t, p)
	}
	return w
}

// mesh returns the documents of the dataplanes.
func (w *world) mesh(t *testing.T, list []*patched) string {
	names, author := strconv.Itoa(serveNames(t)), strconv.Itoa(startAuthor(t))
	dir := t.TempDir()
	var mesh strings.Builder
	mesh.WriteString(permissions)
	for i, p := range list {
		p.address = w.network.Replace(fmt.Sprintf("127.0.0.%d", i+1))
		fmt.Fprintf(&mesh, dataplane, i, p.address)
		if p.way != nil {
			p.modifications = strings.NewReplacer("NAMES", names, "DIR", dir).Replace(p.way.modifications(i, p.address))
			if p.way.discovery == "EDS of a file" {
				writeEndpoints(t, filepath.Join(dir, p.address+"-"+p.way.port+".json"), p.address, p.way.port)
			}
		}
		if p.modifications != "" {
			text := strings.NewReplacer("ADDR", p.address, "AUTHOR", author).Replace(p.modifications)
			fmt.Fprintf(&mesh, policy, i, strings.ReplaceAll(text, "\n", "\n    "))
		}
	}
	return mesh.String()
}

// writeEndpoints writes a file from which Envoy reads endpoints.
func writeEndpoints(t *testing.T, path, address, port string) {
	text := `{"version_info": "1", "resources": [{"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment", "cluster_name": "x",
		"endpoints": [{"lb_endpoints": [{"endpoint": {"address": {"socket_address": {"address": "` + address + `", "port_value": ` + port + `}}}}]}]}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
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
  outbound:
  - {port: 10070, address: %[2]s, tags: {kuma.io/service: o%[1]d}}
---
type: Dataplane
mesh: default
name: e%[1]d
networking:
  address: %[2]s
  inbound:
  - {port: 10060, protocol: http, tags: {kuma.io/service: o%[1]d}}
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
			p.reached.Add(1)
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

// run starts Envoys with the resources of the dataplanes. Those that Envoy rejects are absent.
func (w *world) run(t *testing.T, list []*patched) {
	for chunk := range slices.Chunk(list, proxiesEach) {
		var snapshots []*snapshot.Snapshot
		for _, p := range chunk {
			snapshots = append(snapshots, p.snapshot)
		}
		address := startADS(t, snapshots)
		b := bootstrap.ADS(chunk[0].snapshot.Dataplane, nil, bootstrap.Server{Host: "127.0.0.1", Port: uint16(address.Port)},
			bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:0")})
		data, err := message.JSON(b)
		if err != nil {
			t.Fatal(err)
		}
		envoytest.Start(t, "envoy", data)
	}
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

// triedAtOnce is how many dataplanes get requests at a time: most of the time is a wait for an
// answer that does not come.
const triedAtOnce = 16

// passed returns [patched.passed] of each dataplane.
func (w *world) passed(list []*patched) [][]string {
	passed, next := make([][]string, len(list)), make(chan int)
	var wait sync.WaitGroup
	for range triedAtOnce {
		wait.Go(func() {
			for i := range next {
				passed[i] = list[i].passed()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wait.Wait()
	return passed
}

// passed returns the requests that were answered although the permissions deny them.
func (p *patched) passed() (passed []string) {
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
	// This request is allowed, but not to the second port.
	send(p.address+":10000", "GET /open HTTP/1.1\r\nhost: "+p.address+":10081\r\nx-envoy-original-dst-host: "+p.address+":10081\r\nconnection: close\r\n\r\n")
	if p.reached.Load() > 0 {
		passed = append(passed, "a connection to the second port")
	}
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
