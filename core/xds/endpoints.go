package xds

import (
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
)

// An Endpoint is a ready inbound of a dataplane (SPEC 11.3), or an address of an external
// service or of a zone proxy (SPEC 17.4). Only the first has a dataplane and tags, and an
// external service has no zone. It is immutable.
type Endpoint struct {
	Dataplane resource.ID
	Address   string // an IP address or a host name
	Port      uint32
	Name      string // of the inbound; "" if it has none
	Tags      resource.Tags
	Labels    resource.Tags // where an affinity tag is looked up that Tags lack
	Zone      string
	Protocol  message.Protocol
	// Priority is the priority within an external service: 0 is used first.
	Priority uint32
	// SPIFFEID is the identity that the endpoint presents; "" if it has none.
	SPIFFEID string
	// ServerName is the SNI by which a zone proxy at the address recognizes the destination;
	// "" if the endpoint is none.
	ServerName string
}

// Affinity returns the value of an affinity tag; "" if there is none.
func (e *Endpoint) Affinity(key string) string {
	if value, has := e.Tags.Get(key); has {
		return value
	}
	return e.Labels.Value(key)
}

// Endpoints is the draft of the endpoints of a destination.
type Endpoints struct {
	*Report
	Facets
	Destination variant.Destination
	// External reports that the endpoints belong to an external service.
	External bool
	// All are the ready endpoints, sorted by address. A translator must not change them.
	All []*Endpoint
	// Localities are the groups that get requests. A new draft has one with all endpoints,
	// or none if there are no endpoints. An external service has one for each priority. A
	// MeshMultiZoneService has one for each zone: the client's zone has priority 0, and
	// the others have priority 1.
	Localities []Locality
	// Message gets the endpoints of the localities when the draft is finished.
	Message *endpointv3.ClusterLoadAssignment

	// Shown are the keys of the tags that ShowTags was called with.
	Shown []string
}

// A Locality is a group of endpoints.
type Locality struct {
	Zone, SubZone string
	// Priority is 0 for the groups that get requests while their endpoints are healthy,
	// 1 for the next ones, and so on without gaps.
	Priority uint32
	// Weight is the share of requests among the groups of one priority. It is not 0. gRPC
	// always uses it, Envoy only if the cluster has weighted localities.
	Weight    uint32
	Endpoints []*Endpoint
}

// ShowTags makes tags of the endpoints available to the routes of the cluster.
func (e *Endpoints) ShowTags(keys ...string) { e.Shown = append(e.Shown, keys...) }
