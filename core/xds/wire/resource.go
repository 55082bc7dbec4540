package wire

import (
	"encoding/binary"
	"math/bits"
	"strconv"

	"github.com/cespare/xxhash/v2"
)

// A Type is a type of Envoy resource.
type Type uint8

// The types.
const (
	ClusterType Type = iota
	EndpointType
	ListenerType
	RouteType
	SecretType
	// ExtensionType is the type of configs of filters that change without their listener
	// (SPEC 11.8).
	ExtensionType
	NumTypes = iota
)

var typeURLs = [NumTypes]string{
	ClusterType:   "type.googleapis.com/envoy.config.cluster.v3.Cluster",
	EndpointType:  "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
	ListenerType:  "type.googleapis.com/envoy.config.listener.v3.Listener",
	RouteType:     "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
	SecretType:    "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret",
	ExtensionType: "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
}

var typeNames = [NumTypes]string{
	ClusterType:   "clusters",
	EndpointType:  "endpoints",
	ListenerType:  "listeners",
	RouteType:     "routes",
	SecretType:    "secrets",
	ExtensionType: "extensions",
}

// DrainMetadata is the key of a node's metadata with the drain time of a proxy, such as 60s: how
// long it keeps connections through a listener or filter chain that is replaced (SPEC 11.7).
const DrainMetadata = "meshmatch.drain"

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
	// Body is the message, marshalled deterministically. The body of an extension lacks
	// the name, so that extensions that differ in their names only share it. Body is nil
	// if only a client has the resource.
	Body []byte
	// Peers is nil if no identities are compared, or if they are not known.
	Peers *Peers
}

// extensionName is the tag of the field name of TypedExtensionConfig: number 1, a text.
const extensionName = 1<<3 | 2

// Size returns the number of bytes of the message.
func (r *Resource) Size() int {
	if r.Type != ExtensionType {
		return len(r.Body)
	}
	n := uint(len(r.Name))
	return 1 + (bits.Len(n|1)+6)/7 + int(n) + len(r.Body)
}

// Append appends the message to a slice.
func (r *Resource) Append(to []byte) []byte {
	if r.Type == ExtensionType {
		to = binary.AppendUvarint(append(to, extensionName), uint64(len(r.Name)))
		to = append(to, r.Name...)
	}
	return append(to, r.Body...)
}

// New returns the resource with a marshalled message as its body, and computes its version.
func New(t Type, name string, body []byte) *Resource {
	return &Resource{Type: t, Name: name, Version: VersionOf(body), Body: body}
}

// VersionOf returns the version of a resource with a body.
func VersionOf(body []byte) string { return strconv.FormatUint(xxhash.Sum64(body), 16) }

// A Variant is one variant of a resource name (SPEC 9).
type Variant struct {
	Resource *Resource
	// Constraints is the canonical DynamicParameterConstraints, marshalled
	// deterministically. It is empty if this is the only variant of the name. The name
	// and the constraints together identify the variant.
	Constraints string
}
