package translators

import (
	"fmt"
	"math"
	"slices"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	strategy "github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// failoverThreshold is the percentage of healthy endpoints below which requests go to
// the next zones, where a conf has none.
const failoverThreshold = 50

// localities groups endpoints by how near they are (SPEC 11.5). The client's zone has
// priority 0. The rules of crossZone.failover for that zone have the
// priorities from 1, in their order. An endpoint that is in no group gets nothing.
func localities(d *xds.Endpoints, e *results.Effective, conf *strategy.Conf) {
	if conf.LocalityAwareness == nil {
		return
	}
	if isTrue(conf.LocalityAwareness.Disabled) && !d.External {
		for i := range d.Localities {
			d.Localities[i].Priority = 0
		}
		return
	}
	if d.External {
		d.Warn(diag.NoEffectHere, e, "/localityAwareness", "an external service has no zones; its endpoints have priorities")
		return
	}
	zone := d.Zone()
	byZone := map[string][]*xds.Endpoint{}
	var zones []string
	for _, endpoint := range d.All {
		if byZone[endpoint.Zone] == nil {
			zones = append(zones, endpoint.Zone)
		}
		byZone[endpoint.Zone] = append(byZone[endpoint.Zone], endpoint)
	}
	slices.Sort(zones)

	d.Localities = ownZone(d, zone, byZone[zone], affinityTags(conf))
	cross := conf.LocalityAwareness.CrossZone
	if cross == nil || len(cross.Failover) == 0 {
		return
	}
	priority := uint32(0)
	if len(d.Localities) > 0 {
		priority = 1
	}
	delete(byZone, zone)
	for _, next := range failover(cross.Failover, zone) {
		found := false
		for _, z := range zones {
			if byZone[z] != nil && next.accepts(z) {
				d.Localities = append(d.Localities, xds.Locality{
					Zone: z, Priority: priority, Weight: uint32(len(byZone[z])), Endpoints: byZone[z],
				})
				delete(byZone, z)
				found = true
			}
		}
		if found {
			priority++
		}
	}
	percentage := float64(failoverThreshold)
	if cross.FailoverThreshold != nil {
		percentage = cross.FailoverThreshold.Percentage.Float()
	}
	d.Message.Policy = &endpointv3.ClusterLoadAssignment_Policy{OverprovisioningFactor: overprovisioning(percentage)}
}

// overprovisioning returns the factor, in percent, by which the share of healthy
// endpoints is multiplied: with the percentage or more it is at least 100 %.
func overprovisioning(percentage float64) *wrapperspb.UInt32Value {
	return wrapperspb.UInt32(uint32(min(math.Ceil(100*100/percentage), math.MaxUint32)))
}

// affinityTags returns the tags that divide the own zone.
func affinityTags(conf *strategy.Conf) strategy.AffinityTags {
	l := conf.LocalityAwareness
	if l == nil || isTrue(l.Disabled) || l.LocalZone == nil {
		return nil
	}
	return l.LocalZone.AffinityTags
}

// affinityKeys returns the keys of the tags that divide the own zone. A merged conf has
// the keys of one policy.
func affinityKeys(c resource.Conf) (keys []string) {
	for _, tag := range affinityTags(c.(*strategy.Conf)) {
		keys = append(keys, tag.Key)
	}
	return keys
}

// ownZone returns the groups of the client's zone: the endpoints with the client's
// value of the first tag, then the others with its value of the second one, and so
// on, then the rest. A group without a weight gets nine tenths of what the previous
// groups leave; the rest has weight 1.
func ownZone(d *xds.Endpoints, zone string, endpoints []*xds.Endpoint, tags strategy.AffinityTags) (list []xds.Locality) {
	rest := endpoints
	var of []strategy.AffinityTag // parallel to list
	for _, tag := range tags {
		value := d.Tag(tag.Key)
		if value == "" {
			continue
		}
		var same, others []*xds.Endpoint
		for _, endpoint := range rest {
			if endpoint.Affinity(tag.Key) == value {
				same = append(same, endpoint)
			} else {
				others = append(others, endpoint)
			}
		}
		if rest = others; len(same) > 0 {
			list = append(list, xds.Locality{Zone: zone, SubZone: fmt.Sprintf("%s=%s", tag.Key, value), Endpoints: same})
			of = append(of, tag)
		}
	}
	for i, tag := range of {
		weight := 9 * math.Pow10(len(of)-1-i)
		if tag.Weight != nil {
			weight = float64(*tag.Weight)
		}
		list[i].Weight = uint32(min(weight, math.MaxUint32/float64(len(of)+1))) // the sum has 32 bits
	}
	if len(rest) > 0 {
		list = append(list, xds.Locality{Zone: zone, Weight: 1, Endpoints: rest})
	}
	return list
}

// failover returns where requests of a zone may go, in order: the rules that are for
// the zone, until one that allows no other zone.
func failover(rules []strategy.Failover, zone string) (list []zones) {
	for _, rule := range rules {
		switch {
		case rule.From != nil && !slices.Contains(rule.From.Zones, zone):
		case rule.To.Type == strategy.NoZone:
			return list
		default:
			list = append(list, zones(rule.To))
		}
	}
	return list
}

// zones is a set of zones.
type zones strategy.ToZone

func (z zones) accepts(zone string) bool {
	switch z.Type {
	case strategy.OnlyZones:
		return slices.Contains(z.Zones, zone)
	case strategy.AnyZoneExceptOf:
		return !slices.Contains(z.Zones, zone)
	}
	return true
}

// failoverZones returns the zones from which a conf has rules of failover.
func failoverZones(c resource.Conf) (zones []string) {
	conf := c.(*strategy.Conf)
	if conf.LocalityAwareness == nil || conf.LocalityAwareness.CrossZone == nil {
		return nil
	}
	for _, rule := range conf.LocalityAwareness.CrossZone.Failover {
		if rule.From != nil {
			zones = append(zones, rule.From.Zones...)
		}
	}
	return zones
}
