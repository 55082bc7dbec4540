package serving

import (
	"strings"
	"testing"
	"time"
)

// converges is how long a client may take until it holds an edit (SPEC 12.3).
const converges = 10 * time.Second

// A gRPC client that starts before its backend reaches it as soon as it comes. The same holds
// if the last endpoint leaves and returns, and if its protocol becomes one that gRPC has no
// resources for and returns.
func TestGRPCBeforeItsBackend(t *testing.T) {
	withClients(t, func(t *testing.T, dial func(m *mesh, server string) *greeters) {
		m := grpcMesh(t)
		m.remove("greeter.yaml")
		server := m.serve(firstReplica)
		g := dial(m, firstReplica)
		waiting := make(chan error, 1)
		go func() {
			_, err := g.call("")
			waiting <- err
		}()
		eventually(t, "the client asks", func() bool { return server.metric("xds_streams") == 1 })
		m.write("greeter.yaml", greeter(1))
		select {
		case err := <-waiting:
			if err != nil {
				t.Logf("the call that was first: %v", err)
			}
		case <-time.After(converges):
			t.Fatalf("the first call has no answer %v after its backend came", converges)
		}
		g.recoversSoon("greeter-1")

		m.remove("greeter.yaml")
		g.loses()
		m.write("greeter.yaml", greeter(1))
		g.recoversSoon("greeter-1")

		m.write("greeter.yaml", strings.Replace(greeter(1), "protocol: grpc", "protocol: tcp", 1))
		g.loses()
		m.write("greeter.yaml", greeter(2))
		g.recoversSoon("greeter-2")
		server.waitConverged(1)
	})
}

// loses waits until calls fail, because the service has no resources.
func (g *greeters) loses() {
	g.t.Helper()
	eventually(g.t, "calls fail", func() bool {
		_, err := g.call("")
		return err != nil
	})
}

// recoversSoon waits until a workload answers calls, which may fail before.
func (g *greeters) recoversSoon(app string) {
	g.t.Helper()
	begin := time.Now()
	g.recovers(app)
	if took := time.Since(begin); took > converges {
		g.t.Errorf("%s answers after %v", app, took)
	}
}
