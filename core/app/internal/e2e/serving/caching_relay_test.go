package serving

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

const (
	firstRelay  = "127.0.0.240:5678"
	secondRelay = "127.0.0.241:5678"
)

// startCaching starts a caching relay at an address, with a directory for its cache, and
// returns a function that ends it.
func (m *mesh) startCaching(address, upstream, state string, changes ...func(*serve.RelayOptions)) (stop func()) {
	m.t.Helper()
	log := &buffer{}
	options := serve.RelayOptions{
		Options: serve.Options{
			XDS: m.network.Replace(address), HTTP: "127.0.0.1:0", Grace: time.Second, State: state,
			Logger: slog.New(slog.NewTextHandler(log, nil)),
		},
		Upstreams: []string{m.network.Replace(upstream)},
	}
	for _, change := range changes {
		change(&options)
	}
	r, err := serve.NewRelay(options)
	if err != nil {
		m.t.Fatal(err)
	}
	if err := r.Listen(); err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(m.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			m.t.Error(err)
		}
	})
	m.t.Cleanup(func() {
		stop()
		if m.t.Failed() {
			m.t.Logf("relay at %s: %s", address, log)
		}
	})
	eventually(m.t, "the relay serves", func() bool { return strings.Contains(log.String(), "ADS is served") })
	return stop
}

// Requests through two Envoys behind serve and two relays in a row succeed, whatever happens
// to the files, to the server and to either relay.
func TestEnvoysBehindRelays(t *testing.T) {
	envoytest.Path(t)
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{
				"web.yaml": web, "backend-1.yaml": backend1, "backend-2.yaml": backend2,
				"permission.yaml": permission("Allow"), "timeouts.yaml": timeouts(10*time.Second, 5*time.Second), "versions.yaml": versions("first"),
			})
			m.startApp("backend-1", "127.0.0.11:10080")
			m.startApp("backend-2", "127.0.0.12:10000")
			server := m.serve(firstReplica)
			firstState, secondState := t.TempDir(), t.TempDir()
			stopFirst := m.startCaching(firstRelay, firstReplica, firstState)
			stopSecond := m.startCaching(secondRelay, firstRelay, secondState)
			m.startProxy("backend-1", protocol, secondRelay, "127.0.0.202:9901")
			m.startProxy("web", protocol, secondRelay, "127.0.0.201:9901")
			server.waitConverged(2) // the relays have ACKed
			tr := m.startEnvoyTraffic()

			edits := func(rounds int, last string) {
				for round := range rounds {
					for _, change := range changes {
						change.edit(m, round)
						time.Sleep(changeInterval)
					}
				}
				m.write("versions.yaml", versions(last))
				tr.sees(last)
			}
			edits(2, "edited")
			tr.flows("backend-1")

			// The server goes, and is edited meanwhile.
			server.stop()
			tr.flows("backend-1")
			m.write("versions.yaml", versions("without-a-server"))
			server = m.serve(firstReplica)
			tr.sees("without-a-server")

			// The relay in the middle goes, and comes back with its cache.
			stopFirst()
			m.write("versions.yaml", versions("without-a-relay"))
			tr.flows("backend-1")
			stopFirst = m.startCaching(firstRelay, firstReplica, firstState)
			tr.sees("without-a-relay")

			// All of them go. The last relay comes back alone, from disk, and then the others.
			stopSecond()
			stopFirst()
			server.stop()
			m.startCaching(secondRelay, firstRelay, secondState)
			tr.flows("backend-1")
			m.write("versions.yaml", versions("all-again"))
			m.serve(firstReplica)
			m.startCaching(firstRelay, firstReplica, firstState)
			tr.sees("all-again")
			edits(1, "last")
			tr.stop()
		})
	}
}

// startEnvoyTraffic sends requests through the Envoy of web when its listener is open.
func (m *mesh) startEnvoyTraffic() *traffic {
	url := m.network.Replace("http://127.0.0.1:10001/")
	probe := &traffic{t: m.t, apps: map[string]int{}}
	eventually(m.t, "Envoy answers", func() bool { return probe.send(http.DefaultClient, url) == nil })
	return startTraffic(m.t, url)
}

// gRPC resolves and follows a service behind two relays.
func TestGRPCBehindRelays(t *testing.T) {
	withClients(t, func(t *testing.T, dial func(m *mesh, server string) *greeters) {
		m := grpcMesh(t)
		server := m.serve(firstReplica)
		state := t.TempDir()
		stop := m.startCaching(firstRelay, firstReplica, "")
		m.startCaching(secondRelay, firstRelay, state)
		g := dial(m, secondRelay)
		g.answers("greeter-1")
		for round := range 2 {
			m.write("greeter.yaml", greeter(2))
			g.answers("greeter-2")
			server.stop()
			g.answers("greeter-2")
			m.write("greeter.yaml", greeter(1))
			server = m.serve(firstReplica)
			g.answers("greeter-1")
			stop()
			g.answers("greeter-1")
			stop = m.startCaching(firstRelay, firstReplica, "")
			m.write("timeouts.yaml", timeouts(time.Duration(10+round)*time.Second, 5*time.Second))
			g.answers("greeter-1")
		}
		server.waitConverged(1)
		if got := server.metric("xds_nacks_total"); got != 0 {
			t.Errorf("the relay rejects %d responses", got)
		}
	})
}
