package serve_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A client of one mesh reads nothing of another mesh whose dataplane has its name and its parameters: not by
// locators of any type, at serve, at a relay that holds the names and behind two relays, nor over HTTP.
func TestRelayMeshes(t *testing.T) {
	c := newCredentials(t)
	other := strings.NewReplacer("name: web\n", "name: web\nlabels: {app: web}\n", "port: 80, tags: {kuma.io/service: web}", "port: 8080, tags: {kuma.io/service: web}").Replace(otherMesh)
	s := startReal(t, map[string]string{
		"mesh.yaml": mesh, "identity.yaml": identity, "other.yaml": other, "other-identity.yaml": strings.Replace(identity, "name: identity", "mesh: other, name: identity", 1),
	}, func(o *serve.Options) {
		o.TLS, o.State, o.Relays = c.files(), t.TempDir(), []string{relayID, secondRelayID}
	})
	first := startRelay(t, c, relayID, s.XDSAddr().String(), secondRelayID)
	chained := startRelay(t, c, secondRelayID, first.XDSAddr().String())
	otherWeb := strings.Replace(webID, "default.mesh.local", "other.mesh.local", 1)
	parameters := map[string]variant.Parameters{}
	for id, text := range map[string]string{webID: mesh, otherWeb: other} {
		for _, d := range resourcetest.Decode(t, text).Dataplanes {
			if d.Name == "web" {
				parameters[id] = variant.ParametersOf(d, 0)
			}
		}
	}
	if !maps.Equal(parameters[webID], parameters[otherWeb]) {
		t.Fatalf("the parameters are %v and %v", parameters[webID], parameters[otherWeb])
	}
	for name, connect := range map[string]func(id string) *xdstest.Client{
		"serve":      func(id string) *xdstest.Client { return s.client("", c.client(id)) },
		"a relay":    func(id string) *xdstest.Client { return relayClient(t, first, c.client(id), "") },
		"two relays": func(id string) *xdstest.Client { return relayClient(t, chained, c.client(id), "") },
	} {
		for _, k := range []struct {
			id, locator string
			want        bool
		}{
			{otherWeb, "other/db", true}, // so a relay holds it
			{webID, "default/api", true},
			{webID, "other/db", false},
			{otherWeb, "default/api", false},
			{webID, "other/../default/api", false},
			{webID, "default/../other/db", false},
			{webID, "", false},
		} {
			client := connect(k.id)
			for _, kind := range []wire.Type{wire.ClusterType, wire.EndpointType} {
				locator := xdstest.Locator{Name: k.locator, Parameters: parameters[k.id]}
				if err := client.SubscribeLocators(kind, locator); err != nil {
					t.Fatal(err)
				}
				var held, refused bool
				client.Wait(envoytest.Limit(t), func() bool {
					code, failed := client.Error(kind, k.locator)
					_, held = client.Located(kind, locator)
					refused = failed && (code == codes.PermissionDenied || code == codes.NotFound || code == codes.InvalidArgument)
					return held || refused || client.Err() != nil
				})
				if held != k.want {
					code, _ := client.Error(kind, k.locator)
					t.Errorf("%s: %s gets %s %q: %v, %v", name, k.id, kind, k.locator, held, code)
				}
			}
		}
	}
	status := func(address, path, id string) int {
		h := http.Client{Transport: &http.Transport{TLSClientConfig: c.client(id)}}
		defer h.CloseIdleConnections()
		response, err := h.Get("https://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.StatusCode
	}
	otherNode := strings.Replace(webNode, "_default_", "_other_", 1)
	for path, want := range map[string]int{
		"/meshes/default/dataplanes/web/_rules":       http.StatusOK,
		"/dataplanes/" + webNode + "/status":          http.StatusOK,
		"/meshes/other/dataplanes/web":                http.StatusForbidden,
		"/meshes/other/dataplanes/web/_rules":         http.StatusForbidden,
		"/meshes/other/dataplanes/web/_resources":     http.StatusForbidden,
		"/meshes/other/dataplanes/web/_access":        http.StatusForbidden,
		"/meshes/OTHER/dataplanes/web/_rules":         http.StatusForbidden,
		"/meshes/default%2F..%2Fother/dataplanes/web": http.StatusForbidden,
		"/dataplanes/" + otherNode + "/status":        http.StatusForbidden,
		"/meshes/other":                               http.StatusForbidden,
		"/meshes/default":                             http.StatusForbidden,
		"/events?path=/meshes/other/dataplanes/web":   http.StatusForbidden,
	} {
		if got := status(s.HTTPAddr().String(), path, webID); got != want && !(want == http.StatusForbidden && got == http.StatusUnauthorized) {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
	}
}
