package server_test

import (
	"testing"
	"testing/synctest"
	"time"

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
						deny := func(name string) *wire.Resource { return xdstest.Resource(wire.ExtensionType, name, "deny") }
						m := newMeshmatch(t, func(o *server.Options) { o.Drain, o.Deny = time.Minute, deny })
						if err := play(t, s, m, protocol.wire()); err != nil {
							t.Error(err)
						}
					})
				})
			}
		})
	}
}
