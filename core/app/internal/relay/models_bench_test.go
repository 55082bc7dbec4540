package relay_test

import (
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// BenchmarkModels measures the time from an edit of a cluster and its endpoints until each of 1,000
// models holds both: Envoys, grpc-go, grpc-java and C-core at a server, and the same behind a relay. It
// counts the models that do not hold them after 10 s.
func BenchmarkModels(b *testing.B) {
	const models = 1000
	source := xdstest.NewSource(xdstest.NewState())
	sites := []*site{newSite(b, "upstream"), newSite(b, "relay")}
	sites[0].serve(server.Options{Source: source, Drain: -1})
	sites[1].relay(relay.Options{Upstreams: []relay.Upstream{sites[0].upstream()}, Idle: time.Minute})
	edit := func(content string) {
		source.Edit(func(s *xdstest.State) {
			s.Nodes["envoy"] = xdstest.OneService("a", content, false)
			s.Nodes["grpc"] = xdstest.OneService("a", content, true)
		})
	}
	edit("0")
	var all []*xdstest.Model
	var conn *grpc.ClientConn
	for i := range models {
		if i%20 == 0 { // connections have a limit of streams
			conn = ready(sites[i/20%5/4].conn())
		}
		programs := xdstest.Programs()
		p := programs[i%len(programs)]
		node := "envoy"
		if p.GRPC {
			node = "grpc"
		}
		m := xdstest.NewModel(p, node, uint64(i), "a")
		must(b, m.Connect(conn))
		b.Cleanup(m.Close)
		all = append(all, m)
	}
	left, n := hold(all, "0"), 0
	for b.Loop() {
		n++
		content := fmt.Sprint(n)
		edit(content)
		left += hold(all, content)
	}
	b.ReportMetric(float64(left)/float64(n), "left/op")
}

// hold waits until models hold a cluster and its endpoints, and returns how many do not after 10 s.
func hold(models []*xdstest.Model, content string) int {
	cluster := string(xdstest.OneService("a", content, false)[wire.ClusterType].Listed[0].Append(nil))
	endpoints := string(xdstest.OneService("a", content, false)[wire.EndpointType].Listed[0].Append(nil))
	until := time.Now().Add(10 * time.Second)
	for at := 0; at < len(models); {
		m := models[at]
		switch {
		case m.Held(wire.ClusterType, "a").Body == cluster && m.Held(wire.EndpointType, "a").Body == endpoints:
			at++
		case time.Now().After(until):
			return len(models) - at
		default:
			time.Sleep(time.Millisecond)
		}
	}
	return 0
}
