package server_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestWhatDrains runs the scripts of testdata/drain.
func TestWhatDrains(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			for _, s := range readScripts(t, "testdata/drain/"+protocol.name+".txt") {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						m := newMeshmatch(t, func(o *server.Options) { o.Drain, o.Follow = time.Minute, followListener })
						if err := play(t, s, m, protocol.wire()); err != nil {
							t.Error(err)
						}
					})
				})
			}
		})
	}
}

// followListener is Options.Follow for scripts: the last letter of a listener's content is what the
// permission filter of the inbound has as its content, as if the inbound spoke HTTP.
func followListener(state server.State, node *server.Node, name string) (*wire.Resource, bool) {
	snapshot, _ := state.Node(node)
	inbound := strings.TrimSuffix(strings.TrimPrefix(name, "permission/"), "/plain")
	for _, l := range snapshot[wire.ListenerType].Listed {
		if l.Name == inbound {
			var listener listenerv3.Listener
			if err := proto.Unmarshal(l.Body, &listener); err != nil {
				panic(err)
			}
			content := listener.GetStatPrefix()
			return xdstest.Resource(wire.ExtensionType, name, content[len(content)-1:]), false
		}
	}
	return xdstest.Resource(wire.ExtensionType, name, "deny"), true
}

// A proxy keeps what drains for its drain time, and until the new listener has come and is warm.
func TestDrainTimeOfANode(t *testing.T) {
	for text, want := range map[string]time.Duration{"5s": 35 * time.Second, "0s": 0, "": time.Minute, "48h": 24*time.Hour + 30*time.Second} {
		synctest.Test(t, func(t *testing.T) {
			state := xdstest.NewState()
			state.Nodes["n"] = xdstest.Snapshot(xdstest.Resource(wire.ExtensionType, "permission/inbound/a", "1"))
			r := start(t, server.Options{Source: xdstest.NewSource(state), Drain: time.Minute})
			proxy := node("n")
			if text != "" {
				proxy.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{wire.DrainMetadata: structpb.NewStringValue(text)}}
			}
			c, err := xdstest.New(t.Context(), r.conn, xdstest.Options{Node: proxy})
			must(t, err)
			defer c.Close()
			must(t, c.Subscribe(wire.ExtensionType, "permission/inbound/a"))
			synctest.Wait()
			begin := time.Now()
			r.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = xdstest.Snapshot() })
			c.Wait(t.Context(), func() bool { return len(c.Named(wire.ExtensionType)) == 0 })
			if took := time.Since(begin); took != want {
				t.Errorf("with the drain time %q it is removed after %v, want %v", text, took, want)
			}
		})
	}
}
