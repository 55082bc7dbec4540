package server_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/proto"

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
