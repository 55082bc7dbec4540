package relay_test

import (
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// TestModels has models of Envoys and gRPC clients that follow random edits at a server, at a
// relay, and at a relay behind the relay, and move between them. In the end each model holds what
// a new one would get, and has never held anything that its node never had (SPEC 12.3, 16).
func TestModels(t *testing.T) {
	xdstest.Seeds(t, 10, func(t *testing.T, seed uint64) {
		noDrain := func(o *server.Options) { o.Drain = -1 }
		source := xdstest.NewSource(xdstest.NewState())
		sites := []*site{newSite(t, "upstream"), newSite(t, "first"), newSite(t, "second")}
		sites[0].serve(server.Options{Source: source, Drain: -1})
		var conns []grpc.ClientConnInterface
		for i, s := range sites {
			if i > 0 {
				s.relay(relay.Options{Upstreams: []relay.Upstream{sites[i-1].upstream()}, Idle: time.Minute}, noDrain)
			}
			conns = append(conns, s.conn())
		}
		f := xdstest.NewFleet(t, seed, source, conns...)
		for range 60 {
			f.Step(t)
		}
		f.CheckConverged(t)
	})
}
