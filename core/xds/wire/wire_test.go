package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A type has the name of SPEC 11.7 and the URL that Envoy sends.
func TestTypes(t *testing.T) {
	for typ, want := range map[wire.Type][2]string{
		wire.ClusterType:   {"clusters", "type.googleapis.com/envoy.config.cluster.v3.Cluster"},
		wire.EndpointType:  {"endpoints", "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"},
		wire.ListenerType:  {"listeners", "type.googleapis.com/envoy.config.listener.v3.Listener"},
		wire.RouteType:     {"routes", "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"},
		wire.SecretType:    {"secrets", "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret"},
		wire.ExtensionType: {"extensions", "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig"},
	} {
		if got := [2]string{typ.String(), typ.URL()}; got != want {
			t.Errorf("type %d: got %q, want %q", typ, got, want)
		}
		if of, known := wire.TypeOf(want[1]); of != typ || !known {
			t.Errorf("%s: got the type %v (%t)", want[1], of, known)
		}
	}
	if of, known := wire.TypeOf("type.googleapis.com/envoy.config.core.v3.Node"); known {
		t.Errorf("a node is a resource of the type %v", of)
	}
}

// A version is the hash of the content alone (SPEC 11.4).
func TestVersion(t *testing.T) {
	a := wire.New(wire.ClusterType, "a", []byte("x"))
	for _, c := range []struct {
		rule  string
		other *wire.Resource
		same  bool
	}{
		{"another name", wire.New(wire.ClusterType, "b", []byte("x")), true},
		{"another content", wire.New(wire.ClusterType, "a", []byte("y")), false},
		{"no content", wire.New(wire.ClusterType, "a", nil), false},
	} {
		if same := a.Version == c.other.Version; same != c.same || c.other.Version == "" {
			t.Errorf("%s: versions %q and %q, want equal ones: %t", c.rule, a.Version, c.other.Version, c.same)
		}
	}
}

// The message of an extension begins with the field name, number 1, which its body lacks. Size
// is the number of bytes of the message.
func TestAppend(t *testing.T) {
	long := strings.Repeat("n", 300) // the length has two bytes: 300 = 2·128 + 44
	for _, c := range []struct {
		rule     string
		resource *wire.Resource
		want     string
	}{
		{"a cluster is its body", wire.New(wire.ClusterType, "a", []byte("body")), "body"},
		{"an extension has its name", wire.New(wire.ExtensionType, "rbac", []byte("body")), "\x0a\x04rbacbody"},
		{"an extension has a long name", wire.New(wire.ExtensionType, long, []byte("body")), "\x0a\xac\x02" + long + "body"},
		{"an extension has an empty name", wire.New(wire.ExtensionType, "", []byte("body")), "\x0a\x00body"},
		{"only a client has the resource", wire.New(wire.ClusterType, "a", nil), ""},
	} {
		if got := string(c.resource.Append([]byte("before "))); got != "before "+c.want {
			t.Errorf("%s: got %q, want %q", c.rule, got, "before "+c.want)
		}
		if got := c.resource.Size(); got != len(c.want) {
			t.Errorf("%s: got %d bytes, want %d", c.rule, got, len(c.want))
		}
	}
}

// Endpoints that a cluster does not accept are left out, unless it accepts none of them or it is
// not known which it accepts (SPEC 12.3).
func TestAcceptedBy(t *testing.T) {
	var asked [][]string
	only := func(accepted []string) *wire.Resource {
		asked = append(asked, accepted)
		if !slices.Contains(accepted, "a") {
			return nil // no endpoint has one of the identities
		}
		return wire.New(wire.EndpointType, "e", []byte("a only"))
	}
	endpoints := wire.New(wire.EndpointType, "e", []byte("a and c"))
	endpoints.Peers = wire.NewPeers([]string{"a", "c"}, only)
	unknown := wire.New(wire.EndpointType, "e", []byte("a and c"))
	cluster := func(ids ...string) *wire.Resource {
		c := wire.New(wire.ClusterType, "c", nil)
		c.Peers = wire.NewPeers(ids, nil)
		return c
	}
	for _, c := range []struct {
		rule      string
		endpoints *wire.Resource
		cluster   *wire.Resource
		want      string
	}{
		{"all identities are accepted", endpoints, cluster("a", "b", "c"), "a and c"},
		{"one is accepted", endpoints, cluster("a", "b"), "a only"},
		{"none is accepted", endpoints, cluster("b"), "a and c"},
		{"the identities of endpoints are unknown", unknown, cluster("a"), "a and c"},
		{"the identities of the cluster are unknown", endpoints, wire.New(wire.ClusterType, "c", nil), "a and c"},
	} {
		if got := string(c.endpoints.AcceptedBy(c.cluster).Body); got != c.want {
			t.Errorf("%s: got %s, want %s", c.rule, got, c.want)
		}
	}
	if len(asked) != 2 {
		t.Errorf("endpoints were made for %q, want one time each for the two clusters that accept some or none", asked)
	}
	first, again := endpoints.AcceptedBy(cluster("a", "b")), endpoints.AcceptedBy(cluster("a", "b"))
	if first != again {
		t.Error("clients with equal clusters got different resources")
	}
	if ids := (*wire.Peers)(nil).IDs(); ids != nil {
		t.Errorf("unknown peers have the identities %q", ids)
	}
}
