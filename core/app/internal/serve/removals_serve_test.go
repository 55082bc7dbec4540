package serve_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// many are the dataplanes dp-0 to dp-19.
func many() string {
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, "---\n{type: Dataplane, name: dp-%d, networking: {address: 127.0.1.%d, inbound: [{port: 8080, tags: {kuma.io/service: many}}]}}\n", i, i)
	}
	return b.String()
}

func holding(grace time.Duration) func(*serve.Options) {
	return func(o *serve.Options) { o.MaxRemoved, o.RemovalGrace = 20, grace }
}

// TestFileVanishes moves a file with most dataplanes away and back. Their proxies receive
// no response. Another edit is applied at once.
func TestFileVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "many.yaml": many()}, holding(time.Hour))
		c := r.client("kri_dp_default___dp-3_", nil)
		if err := c.Wildcard(wire.ListenerType); err != nil {
			t.Fatal(err)
		}
		r.eventually("listeners", func() bool { return len(c.Named(wire.ListenerType)) > 0 })
		responses := len(c.Responses())

		away := filepath.Join(t.TempDir(), "many.yaml")
		if err := os.Rename(filepath.Join(r.dir, "many.yaml"), away); err != nil {
			t.Fatal(err)
		}
		r.eventually("line about removals", func() bool {
			return strings.Contains(r.log.String(), "the files lack 20 of 22 dataplanes of the mesh default; they are removed in 1h0m0s unless they come back")
		})
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_held_removals 20\n")
		r.expect("/status", http.StatusOK, `"heldRemovals": 20`)
		r.write("timeout.yaml", timeout("7s"))
		r.eventually("other edit", func() bool {
			_, body, err := r.get("/meshes/default/dataplanes/web/_conf?kind=mt&outbound=api", nil)
			return err == nil && strings.Contains(body, `"connectionTimeout": "7s"`)
		})
		if err := os.Rename(away, filepath.Join(r.dir, "many.yaml")); err != nil {
			t.Fatal(err)
		}
		r.eventually("end of the removals", func() bool {
			return strings.Contains(r.log.String(), "20 dataplanes came back before the removal was applied")
		})
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_held_removals 0\n")
		synctest.Wait()
		if got := len(c.Responses()); got != responses {
			t.Errorf("%d responses were sent to a proxy whose dataplane came back", got-responses)
		}
	})
}

// TestRemovalsAreApplied removes a file for good.
func TestRemovalsAreApplied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "many.yaml": many()}, holding(time.Hour))
		if err := os.Remove(filepath.Join(r.dir, "many.yaml")); err != nil {
			t.Fatal(err)
		}
		r.eventually("line about removals", func() bool { return strings.Contains(r.log.String(), "the files lack 20 of 22 dataplanes") })
		time.Sleep(time.Hour - time.Second)
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_resources{kind=\"Dataplane\"} 22\n")
		time.Sleep(2 * time.Second)
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_resources{kind=\"Dataplane\"} 2\n")
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_held_removals 0\n")
	})
}
