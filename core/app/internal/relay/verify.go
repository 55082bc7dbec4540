package relay

import (
	"fmt"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/variant/constraint"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The limits on what an upstream sends. MaxResponseBytes is the limit of gRPC on a message.
const (
	MaxResponseBytes = 64 << 20
	maxNameBytes     = 1 << 10
	maxVersionBytes  = 1 << 10
)

// A verified response has what is right of it, and in problems what is wrong.
type verified struct {
	t         wire.Type
	size      int // of the message in bytes
	resources []received
	removed   []string
	// removedVariants are identified by their constraints. Without constraints it is the only
	// variant, or means that the name has no variant for a subscription.
	removedVariants []variantID
	errors          map[string]codes.Code // by name
	problems        []string
	// rejected are the names that problems are about. They stay as they are.
	rejected map[string]bool
}

// A received resource has been verified.
type received struct {
	resource *wire.Resource
	version  string // as the upstream gave it
	// located is set if it is a variant, with constraints or without.
	located     bool
	constraints constraints
}

// A variantID identifies a variant.
type variantID struct{ name, constraints string }

// verify checks all parts of a response.
func (p *pool) verify(t wire.Type, m *discoveryv3.DeltaDiscoveryResponse) *verified {
	v := &verified{t: t, size: proto.Size(m), errors: map[string]codes.Code{}, rejected: map[string]bool{}}
	for _, r := range m.GetResources() {
		ok, err := p.verifyResource(t, r)
		if err != nil {
			v.reject(nameOf(r), err.Error())
			continue
		}
		v.resources = append(v.resources, ok)
	}
	v.removed = m.GetRemovedResources()
	for _, r := range m.GetRemovedResourceNames() {
		c, err := readConstraints(r.GetDynamicParameterConstraints())
		if err != nil {
			v.reject(r.GetName(), "it is removed with invalid constraints: "+err.Error())
			continue
		}
		v.removedVariants = append(v.removedVariants, variantID{r.GetName(), c.text})
	}
	for _, e := range m.GetResourceErrors() {
		name, code := e.GetResourceName().GetName(), codes.Code(e.GetErrorDetail().GetCode())
		if v.errors[name] != codes.PermissionDenied {
			v.errors[name] = code
		}
	}
	return v
}

// reject records that something about a name is wrong.
func (v *verified) reject(name, why string) {
	v.problems = append(v.problems, fmt.Sprintf("%.200s: %s", name, why))
	v.rejected[name] = true
}

func nameOf(r *discoveryv3.Resource) string {
	if name := r.GetResourceName().GetName(); name != "" {
		return name
	}
	return r.GetName()
}

func (p *pool) verifyResource(t wire.Type, r *discoveryv3.Resource) (received, error) {
	name, located := nameOf(r), r.GetResourceName() != nil
	switch body := r.GetResource(); {
	case name == "":
		return received{}, fmt.Errorf("the resource has no name")
	case located && r.GetName() != "":
		return received{}, fmt.Errorf("the resource has both name and resource_name")
	case len(name) > maxNameBytes:
		return received{}, fmt.Errorf("the name has %d bytes; the limit is %d", len(name), maxNameBytes)
	case r.GetVersion() == "":
		return received{}, fmt.Errorf("the version is empty")
	case len(r.GetVersion()) > maxVersionBytes:
		return received{}, fmt.Errorf("the version has %d bytes; the limit is %d", len(r.GetVersion()), maxVersionBytes)
	case located && strings.Contains(r.GetVersion(), ","): // see versionsOf
		return received{}, fmt.Errorf("the version of a variant must not have a comma")
	case body == nil:
		return received{}, fmt.Errorf("there is no resource")
	case body.GetTypeUrl() != t.URL():
		return received{}, fmt.Errorf("the resource is a %.200q, not a %s", body.GetTypeUrl(), t.URL())
	}
	c, err := readConstraints(r.GetResourceName().GetDynamicParameterConstraints())
	if err != nil {
		return received{}, fmt.Errorf("invalid constraints: %w", err)
	}
	body, err := verifyBody(t, name, r.GetResource().GetValue())
	if err != nil {
		return received{}, err
	}
	resource := p.resource(t, name, body)
	version := r.GetVersion()
	if version == resource.Version {
		version = resource.Version // one string
	}
	return received{resource, version, located, c}, nil
}

// newMessage has the message of each type.
var newMessage = [wire.NumTypes]func() proto.Message{
	wire.ClusterType:   func() proto.Message { return new(clusterv3.Cluster) },
	wire.EndpointType:  func() proto.Message { return new(endpointv3.ClusterLoadAssignment) },
	wire.ListenerType:  func() proto.Message { return new(listenerv3.Listener) },
	wire.RouteType:     func() proto.Message { return new(routev3.RouteConfiguration) },
	wire.SecretType:    func() proto.Message { return new(tlsv3.Secret) },
	wire.ExtensionType: func() proto.Message { return new(corev3.TypedExtensionConfig) },
}

// verifyBody checks that a message decodes and has the name, and returns the body of its
// wire.Resource.
func verifyBody(t wire.Type, name string, body []byte) ([]byte, error) {
	m := newMessage[t]()
	if err := proto.Unmarshal(body, m); err != nil {
		return nil, fmt.Errorf("the resource does not decode as a %s", t.URL())
	}
	inner := ""
	switch m := m.(type) {
	case *endpointv3.ClusterLoadAssignment:
		inner = m.GetClusterName()
	case interface{ GetName() string }:
		inner = m.GetName()
	}
	if inner != name {
		return nil, fmt.Errorf("the name inside of the resource is %.200q", inner)
	}
	if t == wire.ExtensionType {
		return withoutName(body)
	}
	return body, nil
}

// withoutName returns a TypedExtensionConfig without the field name, which its wire.Resource
// has apart.
func withoutName(body []byte) ([]byte, error) {
	const nameField = 1
	out := make([]byte, 0, len(body))
	for rest := body; len(rest) > 0; {
		number, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		if number != nameField {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	return out, nil
}

// constraints are the constraints of a variant. The zero value accepts all parameters.
type constraints struct {
	text      string // marshalled deterministically; empty if there are none
	predicate partition.Predicate
}

func readConstraints(m *constraint.Proto) (constraints, error) {
	if m == nil {
		return constraints{}, nil
	}
	predicate, err := constraint.Read(m)
	if err != nil {
		return constraints{}, err
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	return constraints{string(text), predicate}, err
}

// parseConstraints reads the text of constraints.
func parseConstraints(text string) (constraints, error) {
	if text == "" {
		return constraints{}, nil
	}
	var m constraint.Proto
	if err := proto.Unmarshal([]byte(text), &m); err != nil {
		return constraints{}, err
	}
	return readConstraints(&m)
}
