package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestServe follows a mesh from its first load to the end of the server.
func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "timeout.yaml": timeout("1s")})
		r.expect("/healthz", http.StatusOK, "ok")
		r.expect("/readyz", http.StatusOK, "ok")
		r.expect("/dataplanes/"+webNode+"/status", http.StatusOK, `"converged": false`)
		r.expect("/dataplanes/kri_dp_default___none_/status", http.StatusNotFound, "there is no dataplane with this KRI")
		r.expect("/converged?timeout=1ms", http.StatusOK, `"absent": 2`)

		web := r.client(webNode, nil)
		for _, listed := range []wire.Type{wire.ClusterType, wire.ListenerType} {
			if err := web.Wildcard(listed); err != nil {
				t.Fatal(err)
			}
		}
		version := func() string { return web.Named(wire.ClusterType)["default/api"].Version }
		r.eventually("cluster", func() bool { return version() != "" && len(web.Named(wire.ListenerType)) == 2 })
		r.expect("/converged?dataplanes=app=web", http.StatusOK, "\"done\": true,\n  \"converged\": 1,\n  \"pending\": 0,\n  \"absent\": 0,\n  \"of\": 1")
		r.expect("/dataplanes/"+webNode+"/status", http.StatusOK, `"protocol": "delta"`)

		first := version()
		r.write("timeout.yaml", timeout("2s"))
		r.eventually("other cluster", func() bool { return version() != first })
		r.expect("/meshes/default/dataplanes/web/_conf?kind=mt&outbound=api", http.StatusOK, `"connectionTimeout": "2s"`)
		second := version()

		r.write("timeout.yaml", timeout("2x"))
		r.eventually("diagnostic", func() bool { return strings.Contains(r.log.String(), "still serving the previous configuration") })
		if want := filepath.Join(r.dir, "timeout.yaml") + ":1:"; !strings.Contains(r.log.String(), want) {
			t.Errorf("the log has no position %s:\n%s", want, r.log)
		}
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_load_errors 1\n")
		r.expect("/readyz", http.StatusOK, "ok")
		synctest.Wait()
		if got := version(); got != second {
			t.Errorf("a bad edit changes the cluster from %s to %s", second, got)
		}

		r.write("timeout.yaml", timeout("1s"))
		r.eventually("first cluster again", func() bool { return version() == first })
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_load_errors 0\n")
		r.expect("/converged", http.StatusOK, `"done": true`)
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_dataplanes{state=\"converged\"} 1\n")

		if err := os.Remove(filepath.Join(r.dir, "mesh.yaml")); err != nil {
			t.Fatal(err)
		}
		const drains = "local/127.0.0.2/8080" // connections of the inbound can still be open (SPEC 12.3)
		r.eventually("removal", func() bool {
			left := web.Named(wire.ClusterType)
			_, kept := left[drains]
			return kept && len(left) == 1
		})
		time.Sleep(10 * time.Minute)
		r.eventually("the end of the drain", func() bool { return len(web.Named(wire.ClusterType)) == 0 })
		if web.Err() != nil {
			t.Errorf("the stream has ended: %v", web.Err())
		}
		begin := time.Now()
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		if d := time.Since(begin); d > time.Second {
			t.Errorf("it took %v to end, more than Options.Grace", d)
		}
		if !r.settles(func() bool { return web.Err() != nil }) {
			t.Fatal("the stream has not ended")
		}
		if !strings.Contains(web.Err().Error(), "Unavailable desc = the server is shutting down; connect again") {
			t.Errorf("the stream ends with %v", web.Err())
		}
	})
}

// TestLocators asks for a cluster with the parameters of two teams.
func TestLocators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const teams = `
{type: Dataplane, name: a, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, team: a}}], outbound: [{port: 9000, tags: {kuma.io/service: api}}]}}
---
{type: MeshTimeout, name: a, spec: {targetRef: {kind: MeshSubset, tags: {team: a}}, to: [{default: {connectionTimeout: 1s}}]}}
`
		r := start(t, map[string]string{"teams.yaml": teams})
		relay := r.client("", nil)
		locators := []xdstest.Locator{
			{Name: "default/api", Parameters: map[string]string{"kuma.io/service": "web", "team": "a"}},
			{Name: "default/api", Parameters: map[string]string{"kuma.io/service": "web", "team": "b"}},
		}
		if err := relay.SubscribeLocators(wire.ClusterType, locators...); err != nil {
			t.Fatal(err)
		}
		held := func(i int) string { l, _ := relay.Located(wire.ClusterType, locators[i]); return l.Body }
		r.eventually("variants", func() bool { return held(0) != "" && held(1) != "" })
		if held(0) == held(1) {
			t.Error("both teams have the same cluster")
		}
		web := r.client("kri_dp_default___a_", nil)
		if err := web.Wildcard(wire.ClusterType); err != nil {
			t.Fatal(err)
		}
		r.eventually("cluster", func() bool { return web.Named(wire.ClusterType)["default/api"].Body != "" })
		if web.Named(wire.ClusterType)["default/api"].Body != held(0) {
			t.Error("the dataplane and its parameters have different clusters")
		}
	})
}

// TestMetrics has every metric of SPEC 12.5.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh})
		_, body, err := r.get("/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{
			`xds_streams{protocol="delta"}`, `xds_streams{protocol="sotw"}`, `xds_subscriptions{type="clusters"}`, `xds_pushes_total{type="listeners"}`,
			`xds_push_bytes_total{type="routes"}`, `xds_nacks_total{type="endpoints"}`, `dataplanes{state="converged"}`, `dataplanes{state="pending"}`,
			`dataplanes{state="absent"} 2`, `commit_seconds_count 1`, `push_seconds_count 0`, `resources{kind="Dataplane"} 2`, `warnings`, `load_errors 0`,
			`xds_subscriptions{type="extensions"}`, `xds_pushes_total{type="extensions"}`, `xds_push_bytes_total{type="extensions"}`, `xds_nacks_total{type="extensions"}`,
			`held_removals 0`, `last_load_timestamp_seconds 9.466848e+08`, `stale 0`,
		} {
			if !strings.Contains(body, "\nmeshmatch_"+name) {
				t.Errorf("there is no meshmatch_%s", name)
			}
		}
		web := r.client(webNode, nil)
		if err := web.Wildcard(wire.ClusterType); err != nil {
			t.Fatal(err)
		}
		r.eventually("clusters", func() bool { return len(web.Named(wire.ClusterType)) > 0 })
		r.write("timeout.yaml", timeout("3s"))
		r.eventually("time of a push", func() bool {
			_, body, err := r.get("/metrics", nil)
			return err == nil && strings.Contains(body, "\nmeshmatch_push_seconds_count 1\n")
		})
	})
}

// A client that does not answer is silent in all answers and pages (SPEC 12.3, 12.5), with the type and
// since when, and nothing waits for it.
func TestSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh})
		web := r.client(webNode, nil)
		if err := web.Wildcard(wire.ClusterType); err != nil {
			t.Fatal(err)
		}
		r.eventually("clusters", func() bool { return len(web.Named(wire.ClusterType)) > 0 })
		synctest.Wait()
		web.Freeze()
		for _, value := range []string{"3s", "4s"} { // it reads the first response
			r.write("timeout.yaml", timeout(value))
			time.Sleep(5 * time.Second)
		}
		time.Sleep(15 * time.Second)
		for path, parts := range map[string][]string{
			"/status":                            {`"dataplanes":{"converged":0,"pending":0,"absent":1,"silent":1}`},
			"/converged":                         {`"done":true`, `"silent":[{"kri":"` + webNode + `","type":"clusters","since":"2000-01-01T00:00:`},
			"/metrics":                           {`meshmatch_dataplanes{state="silent"} 1`},
			"/":                                  {`<b class="num">1</b> silent`},
			"/meshes/default/dataplanes":         {`? silent`},
			"/meshes/default/dataplanes/web":     {`? silent`, `? no answer`, `datetime="2000-01-01T00:00:`},
			"/dataplanes/" + webNode + "/status": {`"silent":"2000-01-01T00:00:`, `"converged":false`},
		} {
			_, body, err := r.get(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range parts {
				if !strings.Contains(body, part) && !strings.Contains(strings.NewReplacer(" ", "", "\n", "").Replace(body), part) {
					t.Errorf("%s has no %s", path, part)
				}
			}
		}
		web.Thaw()
		time.Sleep(5 * time.Second) // it has no listeners
		r.expect("/converged", http.StatusOK, `"converged": 1`)
	})
}

// TestWarnings logs what has no effect, once.
func TestWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh, "idle.yaml": "{type: MeshTimeout, name: idle, spec: {targetRef: {kind: MeshService, name: none}, to: [{default: {connectionTimeout: 1s}}]}}"})
		warned := func() int { return strings.Count(r.log.String(), "selects no dataplane") }
		r.eventually("warning", func() bool { return warned() == 1 })
		r.expect("/metrics", http.StatusOK, "\nmeshmatch_warnings 1\n")
		r.write("timeout.yaml", timeout("3s"))
		r.eventually("change", func() bool {
			return strings.Contains(r.log.String(), "they change the configuration of 1 dataplane")
		})
		if !r.settles(func() bool { return warned() == 1 }) {
			t.Errorf("warned %d times:\n%s", warned(), r.log)
		}
	})
}

func TestFirstLoadFails(t *testing.T) {
	dir, log := t.TempDir(), &serve.LockedBuffer{}
	for i, text := range []string{"{type: Mesh}", "{type: Dataplan, name: a}"} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)+".yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := serve.New(options(dir, log))
	if err != nil {
		t.Fatal(err)
	}
	var diagnostics diag.Errors
	if err := s.Run(t.Context()); !errors.As(err, &diagnostics) || len(diagnostics) != 2 {
		t.Errorf("got %v", err)
	}
}

func TestLoopbackOnly(t *testing.T) {
	for name, c := range map[string]struct {
		xds, http string
		insecure  bool
		want      error
	}{
		"loopback":                 {"127.0.0.1:0", "localhost:0", false, nil},
		"ADS on all addresses":     {":0", "127.0.0.1:0", false, serve.ErrNotLoopback},
		"HTTP on all addresses":    {"127.0.0.1:0", "0.0.0.0:0", false, serve.ErrNotLoopback},
		"insecure, all addresses":  {":0", "0.0.0.0:0", true, nil},
		"IPv6, without a loopback": {"[::]:0", "127.0.0.1:0", false, serve.ErrNotLoopback},
	} {
		o := options(t.TempDir(), &serve.LockedBuffer{})
		o.XDS, o.HTTP, o.Insecure = c.xds, c.http, c.insecure
		s, err := serve.New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Run(ctx); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestBadQuestions sends requests that have no answer.
func TestBadQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, map[string]string{"mesh.yaml": mesh})
		transport := r.transport(nil)
		defer transport.CloseIdleConnections()
		for path, want := range map[string]int{
			"/converged?dataplanes=(": http.StatusBadRequest, "/converged?timeout=1": http.StatusBadRequest, "/converged?timeout=1h": http.StatusBadRequest,
			"/converged?timeout=-1s": http.StatusBadRequest, "/meshes/none/_placement": http.StatusNotFound,
			"/nothing": http.StatusNotFound, "/dataplanes/%zz/status": http.StatusBadRequest, "/dataplanes/%2F/status": http.StatusNotFound,
		} {
			request, err := http.NewRequest("GET", "http://"+r.HTTPAddr().String(), nil)
			if err != nil {
				t.Fatal(err)
			}
			request.URL.Opaque = path // unchanged
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%s: got %d, want %d", path, response.StatusCode, want)
			}
		}
		request, _ := http.NewRequest("GET", "http://"+r.HTTPAddr().String()+"/meshes", nil)
		request.Host = "attacker.example" // whose name resolves to 127.0.0.1
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusMisdirectedRequest {
			t.Errorf("a request for another host: %d", response.StatusCode)
		}
	})
}
