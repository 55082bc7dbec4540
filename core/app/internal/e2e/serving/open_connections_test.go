package serving

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// changing is a dataplane with a permission by path, so that its filter refers to an extension.
// The second inbound is there because a dataplane needs one.
func changing(protocol, second string) string {
	return fmt.Sprintf(`
{type: Dataplane, name: changing, labels: {tls: "yes"}, networking: {address: 127.0.0.1,
  inbound: [%s{port: 10001, serviceAddress: 127.0.0.1, servicePort: 10081, tags: {kuma.io/service: other}}]}}
---
{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{path: {type: Prefix, value: /}}]}}]}}
`, fmt.Sprintf(second, protocol))
}

const changingInbound = "{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, protocol: %s, tags: {kuma.io/service: web}}, "

const drainTime = 4 * time.Second

// An edit that replaces or removes the listener of an inbound fails no request and no stream on
// connections that are open, for as long as the proxy drains them. What they use is removed then (SPEC 12.3).
func TestOpenConnections(t *testing.T) {
	envoytest.Path(t)
	edits := []struct {
		name string
		edit func(m *mesh)
	}{
		{"Permissive to Strict", func(m *mesh) { m.write("tls.yaml", mode("Strict")) }},
		{"http to tcp", func(m *mesh) { m.write("changing.yaml", changing("tcp", changingInbound)) }},
		{"an inbound is removed", func(m *mesh) { m.write("changing.yaml", changing("", "%.0s")) }},
	}
	for _, edit := range edits {
		for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
			"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
		} {
			t.Run(edit.name+" "+name, func(t *testing.T) {
				t.Parallel()
				testOpenConnections(t, protocol, edit.edit)
			})
		}
	}
}

// mode is a policy about TLS.
func mode(name string) string {
	return fmt.Sprintf(`{type: MeshTLS, name: mode, spec: {from: [{targetRef: {kind: Mesh}, default: {mode: %s}}]}}`, name)
}

func testOpenConnections(t *testing.T, protocol corev3.ApiConfigSource_ApiType, edit func(m *mesh)) {
	m := newMesh(t, map[string]string{"changing.yaml": changing("http", changingInbound), "tls.yaml": mode("Permissive")})
	m.write("identities.yaml", m.identities(`tls: "yes"`))
	m.issue(envoytest.NewAuthority(t), "changing")
	startEcho(t, m.network.Replace("127.0.0.1:10080"))
	server := m.serve(firstReplica)
	proxy := m.startProxy("changing", protocol, firstReplica, "127.0.0.201:9901", func(b *bootstrapv3.Bootstrap) {
		b.Node.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{
			wire.DrainMetadata: structpb.NewStringValue(fmt.Sprintf("%ds", drainTime/time.Second)),
		}}
	})
	server.waitConverged(1)
	var open []*plainConnection
	var streams []*keptConnection
	for range 20 {
		open = append(open, dialPlain(t, m.network.Replace("127.0.0.1:10000")))
		streams = append(streams, newKeptConnection(t, dialer(m.network.Replace("127.0.0.1:10000"), ""), true))
	}
	begin := time.Now()
	edit(m)
	served, answered := true, 0
	for time.Since(begin) < drainTime-time.Second {
		for _, c := range open {
			ok, err := c.get()
			if err != nil {
				t.Fatalf("%v after the edit: %v", time.Since(begin), err)
			}
			if ok {
				answered++
			}
		}
		for _, c := range streams {
			if err := c.next(); err != nil {
				t.Fatalf("a stream, %v after the edit: %v", time.Since(begin), err)
			}
		}
		if dial := plainStatus(m.network.Replace("127.0.0.1:10000")); dial != "200" {
			served = false
		}
		time.Sleep(20 * time.Millisecond)
	}
	if served {
		t.Error("the edit changes nothing")
	}
	// A release may say with each answer that the connection ends.
	if answered < len(open) {
		t.Errorf("%d answers while %d connections drain", answered, len(open))
	}
	fresh := m.startProxy("changing", protocol, firstReplica, "127.0.0.202:9901")
	want := usedNames(t, fresh)
	eventually(t, "what drained is removed", func() bool { return maps.Equal(usedNames(t, proxy), want) })
	if took := time.Since(begin); took < drainTime {
		t.Errorf("what drains is removed after %v", took)
	}
	if got := server.metric("xds_nacks_total"); got != 0 {
		t.Errorf("%d NACKs", got)
	}
}

var usedName = regexp.MustCompile(`"(permission/[^"]*|local/[^"]*)"`)

// usedNames returns the names of extensions and of clusters of workloads that a proxy has.
func usedNames(t *testing.T, proxy *envoytest.Proxy) map[string]bool {
	t.Helper()
	dump, err := proxy.Get("/config_dump")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, m := range usedName.FindAllStringSubmatch(dump, -1) {
		names[m[1]] = true
	}
	return names
}

// A plainConnection is a connection of HTTP/1.1. It ends after an answer that says so.
type plainConnection struct {
	*keptConnection
	ended bool
}

func dialPlain(t *testing.T, address string) *plainConnection {
	t.Helper()
	return &plainConnection{newKeptConnection(t, dialer(address, ""), false), false}
}

// get sends a request unless the connection has ended. An answer that is not 200 is an error.
func (c *plainConnection) get() (answered bool, err error) {
	if c.ended {
		return false, nil
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return false, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return false, err
	}
	if response.StatusCode != http.StatusOK {
		return false, errors.New(response.Status)
	}
	if c.ended = response.Close; c.ended {
		c.close()
	}
	return true, nil
}
