package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// A replica is a running server of the files of a mesh.
type replica struct {
	*serve.Server
	mesh *mesh
	log  *buffer
	stop func() // ends the server, and returns when it has ended
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

// serve starts a replica that serves ADS at an address, and waits until it does.
func (m *mesh) serve(address string, changes ...func(*serve.Options)) *replica {
	m.t.Helper()
	r := &replica{mesh: m, log: &buffer{}}
	options := serve.Options{
		Loader: &resource.Loader{Kinds: kinds.All()}, Translators: translators.All(), Semantics: &m.semantics,
		Files: []string{m.dir}, XDS: m.network.Replace(address), HTTP: "127.0.0.1:0", Grace: time.Second,
		Logger: slog.New(slog.NewTextHandler(r.log, nil)), Quiet: 10 * time.Millisecond,
	}
	for _, change := range changes {
		change(&options)
	}
	var err error
	if r.Server, err = serve.New(options); err != nil {
		m.t.Fatal(err)
	}
	if err := r.Listen(); err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(m.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			m.t.Error(err)
		}
	})
	m.t.Cleanup(func() {
		r.stop()
		if m.t.Failed() {
			m.t.Logf("%s: %s", address, r.log)
		}
	})
	eventually(m.t, "ADS is served", func() bool { return strings.Contains(r.log.String(), "ADS is served") })
	return r
}

// get returns the answer to a GET.
func (r *replica) get(path string) string {
	r.mesh.t.Helper()
	response, err := http.Get("http://" + r.HTTPAddr().String() + path)
	if err != nil {
		r.mesh.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		r.mesh.t.Fatalf("%s: %s, %v: %s", path, response.Status, err, body)
	}
	return string(body)
}

// metric returns a metric without its prefix, summed over the labels that are not
// given.
func (r *replica) metric(name string) int {
	r.mesh.t.Helper()
	sum := 0.0
	for line := range strings.Lines(r.get("/metrics")) {
		series, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest, found := strings.CutPrefix(series, "meshmatch_"+name)
		if !found || rest != "" && rest[0] != '{' {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			r.mesh.t.Fatal(err)
		}
		sum += n
	}
	return int(sum)
}

// resourceTypes are the types of resources that each Envoy fetches, as labels of
// metrics.
var resourceTypes = []string{"clusters", "endpoints", "extensions", "listeners", "routes"}

// pushes returns the number of responses of a type.
func (r *replica) pushes(resourceType string) int {
	return r.metric(fmt.Sprintf("xds_pushes_total{type=%q}", resourceType))
}

// emptyResponse is the most bytes of a delta response without resources: its type, its
// nonce and the id of the server.
const emptyResponse = 100

// sentOnly checks that responses of other types than those given had no resources.
func (r *replica) sentOnly(types ...string) {
	r.mesh.t.Helper()
	for _, resourceType := range resourceTypes {
		bytes := r.metric(fmt.Sprintf("xds_push_bytes_total{type=%q}", resourceType))
		empty := bytes <= emptyResponse*r.pushes(resourceType)
		if expected := slices.Contains(types, resourceType); empty == expected {
			r.mesh.t.Errorf("%s: %d responses with %d bytes; expected resources: %v", resourceType, r.pushes(resourceType), bytes, expected)
		}
	}
}

// waitConverged waits until a number of dataplanes have the present content.
func (r *replica) waitConverged(dataplanes int) {
	r.mesh.t.Helper()
	eventually(r.mesh.t, fmt.Sprintf("%d dataplanes have converged", dataplanes), func() bool {
		var answer serve.Convergence
		if err := json.Unmarshal([]byte(r.get("/converged?timeout=5s")), &answer); err != nil {
			r.mesh.t.Fatal(err)
		}
		return answer.Done && answer.Converged == dataplanes
	})
}
