package core

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Outbound is an outbound of a dataplane with its conf by the policies of one kind, and the
// confs of its routes. One of Listed and Destination is set.
type Outbound struct {
	// Listed is an outbound that the dataplane lists by tags (SPEC 4).
	Listed *resource.Outbound
	// Destination is an outbound to a port of a MeshService, a MeshExternalService or a
	// MeshMultiZoneService (SPEC 17.3).
	Destination *destination.Outbound
	// OutboundConfig has the conf and the routes. Its Index is the index of Listed in
	// the Outbounds of the dataplane, or of Destination in its
	// [View.DestinationOutbounds].
	results.OutboundConfig
}

// String returns the tags of the outbound, or its destination and port.
func (o Outbound) String() string {
	if o.Destination == nil {
		return fmt.Sprint(o.Listed.Tags)
	}
	to := o.Destination.Destination.Identity()
	return fmt.Sprintf("%s %s:%s", to.Kind, to.Qualified(), o.Destination.Section)
}

// Outbounds returns the outbounds of a dataplane with their confs by the policies of one
// kind: first those that it lists by tags, then those to destinations. A reference to a
// destination in its list is an outbound only if it finds one. The list is empty for a kind
// without `to`. It returns the errors of [View.Config].
//
// Confs for tags are in the [Config] of the dataplane. Confs for destinations are computed
// on demand; equal items give one pointer for all dataplanes of the view.
func (v *View) Outbounds(d *resource.Dataplane, kind string, scope Scope) ([]Outbound, error) {
	config, err := v.Config(d, kind, scope)
	if err != nil || config.Kind.To == nil {
		return nil, err
	}
	destinations := v.DestinationOutbounds(d)
	confs := v.DestinationConfs(d, kind, scope).All(destinations)
	list := make([]Outbound, 0, len(config.Outbounds)+len(destinations))
	for _, o := range config.Outbounds {
		list = append(list, Outbound{Listed: &d.Outbounds[o.Index], OutboundConfig: o})
	}
	for i := range destinations {
		list = append(list, Outbound{Destination: &destinations[i], OutboundConfig: confs[i]})
	}
	return list, nil
}
