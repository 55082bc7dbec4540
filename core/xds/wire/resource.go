package wire

import (
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// A Type is a type of Envoy resource.
type Type uint8

// The types, in the order in which a server sends additions (SPEC 12.3).
const (
	ClusterType Type = iota
	EndpointType
	ListenerType
	RouteType
	SecretType
	NumTypes = iota
)

var typeURLs = [NumTypes]string{
	ClusterType:  "type.googleapis.com/envoy.config.cluster.v3.Cluster",
	EndpointType: "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
	ListenerType: "type.googleapis.com/envoy.config.listener.v3.Listener",
	RouteType:    "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
	SecretType:   "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
}

var typeNames = [NumTypes]string{
	ClusterType:  "clusters",
	EndpointType: "endpoints",
	ListenerType: "listeners",
	RouteType:    "routes",
	SecretType:   "secrets",
}

// String returns the name of the type in a snapshot (SPEC 11.7), such as clusters.
func (t Type) String() string { return typeNames[t] }

// URL returns the type URL, as in google.protobuf.Any.
func (t Type) URL() string { return typeURLs[t] }

// TypeOf returns the type that has a type URL, and reports whether there is one.
func TypeOf(url string) (Type, bool) {
	for t, u := range typeURLs {
		if u == url {
			return Type(t), true
		}
	}
	return 0, false
}

// A Resource is one Envoy resource. It is immutable, and is marshalled once for all
// dataplanes that get the same content.
type Resource struct {
	Type Type
	Name string
	// Version is the hash of Body, in hexadecimal (SPEC 11.4).
	Version string
	// Body is the message, marshalled deterministically.
	Body []byte
}

// New returns the resource with a marshalled message as its body, and computes its version.
func New(t Type, name string, body []byte) *Resource {
	return &Resource{Type: t, Name: name, Version: strconv.FormatUint(xxhash.Sum64(body), 16), Body: body}
}

// A Variant is one variant of a resource name (SPEC 9).
type Variant struct {
	Resource *Resource
	// Constraints is the canonical DynamicParameterConstraints, marshalled
	// deterministically. It is empty if this is the only variant of the name. The name
	// and the constraints together identify the variant.
	Constraints string
}
