package serve_test

import (
	"net/http"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The status and the metrics have the versions of the clients, and what each one lacks (SPEC 18.2).
func TestFleetVersions(t *testing.T) {
	r := startReal(t, map[string]string{"mesh.yaml": mesh})
	envoy := func(minor uint32) *corev3.Node {
		return &corev3.Node{Id: webNode, UserAgentName: "envoy", UserAgentVersionType: &corev3.Node_UserAgentBuildVersion{
			UserAgentBuildVersion: &corev3.BuildVersion{Version: &typev3.SemanticVersion{MajorNumber: 1, MinorNumber: minor}}}}
	}
	for _, node := range []*corev3.Node{envoy(40), envoy(36), envoy(36), {Id: webNode, UserAgentName: "gRPC Go", UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: "1.80.0"}}, {Id: webNode}} {
		c, err := r.connectAs(node, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Wildcard(wire.ClusterType); err != nil {
			t.Fatal(err)
		}
	}
	r.eventually("the streams", func() bool { // the version of a stream is known from its first request on
		known := int64(0)
		for _, c := range statusOf(t, r).Clients {
			known += c.Streams
		}
		return known == 5
	})
	streams, missing := map[string]int64{}, map[string]bool{}
	for _, c := range statusOf(t, r).Clients {
		streams[c.Client], missing[c.Client] = c.Streams, len(c.Missing) > 0
	}
	if streams["envoy 1.36.0"] != 2 || streams["envoy 1.40.0"] != 1 || streams["gRPC"] != 1 || streams["unknown"] != 1 {
		t.Errorf("got %v", streams)
	}
	if !missing["envoy 1.36.0"] || missing["envoy 1.40.0"] || missing["gRPC"] || !missing["unknown"] {
		t.Errorf("clients that lack something: %v", missing)
	}
	r.expect("/metrics", http.StatusOK, "\nmeshmatch_xds_clients{client=\"envoy 1.36.0\"} 2\n")
	r.expect("/", http.StatusOK, "<b class=\"num\">2</b> envoy 1.36.0 <details><summary>lacks ")
}
