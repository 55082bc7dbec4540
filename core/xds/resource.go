package xds

import (
	"bytes"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
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

// TypeOf returns the type with a type URL, and whether there is one.
func TypeOf(url string) (Type, bool) {
	for t, u := range typeURLs {
		if u == url {
			return Type(t), true
		}
	}
	return 0, false
}

// A Resource is one Envoy resource. It is marshalled once for all dataplanes that
// get the same content, and immutable.
type Resource struct {
	Type Type
	Name string
	// Version is the hash of Body, in hexadecimal (SPEC 11.4).
	Version string
	// Body is the message, marshalled deterministically.
	Body []byte
}

// NewResource returns the resource of a message.
func NewResource(t Type, name string, m proto.Message) *Resource {
	body := marshal(m)
	return newResource(t, name, body, xxhash.Sum64(body))
}

func newResource(t Type, name string, body []byte, hash uint64) *Resource {
	return &Resource{Type: t, Name: name, Version: strconv.FormatUint(hash, 16), Body: body}
}

// Message returns the resource as a message, which is new.
func (r *Resource) Message() (proto.Message, error) {
	m, err := (&anypb.Any{TypeUrl: r.Type.URL(), Value: r.Body}).UnmarshalNew()
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", r.Name, err)
	}
	return m, nil
}

// content identifies a resource by type, name and the hash of its bytes, which is its
// version too.
type content struct {
	kind Type
	name string
	hash uint64
}

// resources makes each resource once (see the invariants of the package).
type resources struct {
	known  cache[content, Resource]
	builds atomic.Int64 // calls of make
	made   atomic.Int64 // resources with a new content
}

// make returns the resource of a message.
func (r *resources) make(t Type, name string, m proto.Message) *Resource {
	r.builds.Add(1)
	body := marshal(m)
	hash := xxhash.Sum64(body)
	return r.known.get(content{t, name, hash}, func() *Resource {
		r.made.Add(1)
		return newResource(t, name, body, hash)
	})
}

// makeOwn returns the resource of a message that one dataplane only has: the one of the
// dataplane's snapshot before, if that is equal. Such resources are not in the cache.
func (r *resources) makeOwn(t Type, name string, m proto.Message, before *built) *Resource {
	r.builds.Add(1)
	body := marshal(m)
	if before != nil {
		for _, known := range before.resources {
			if known.Type == t && known.Name == name && bytes.Equal(known.Body, body) {
				return known
			}
		}
	}
	r.made.Add(1)
	return newResource(t, name, body, xxhash.Sum64(body))
}

// marshal returns the bytes of a message, the same ones for the same content.
func marshal(m proto.Message) []byte {
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil { // a string that is not UTF-8, which no decoder lets pass
		panic(fmt.Sprintf("marshalling %T: %v", m, err))
	}
	return body
}

// Any returns a message as google.protobuf.Any, with the same bytes for the same
// content.
func Any(m proto.Message) *anypb.Any {
	return &anypb.Any{TypeUrl: "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName()), Value: marshal(m)}
}
