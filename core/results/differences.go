package results

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Differences returns the places where two lists of configs of a dataplane differ:
// where a conf has different content or different origins, or a field has a different
// origin. Both lists must be sorted by kind. The places are in the order of [Config];
// outbounds and inbounds are identified by their index. A policy that selects the
// dataplane but sets nothing makes no difference, nor does another version of a
// policy with the same content.
//
// If a conf is the same pointer in both lists, it is not compared.
func Differences(before, after []*Config) []Place {
	var places []Place
	byKind := func(a, b *Config) int { return strings.Compare(a.Kind.Name, b.Kind.Name) }
	for old, next := range sorted.Join(before, after, byKind) {
		if old != next {
			d := differ{old, next}
			places = d.appendPlaces(places)
		}
	}
	return places
}

// differ compares two configs of one kind. One of them may be missing.
type differ struct{ before, after *Config }

func (d *differ) kind() *resource.Kind {
	if d.before != nil {
		return d.before.Kind
	}
	return d.after.Kind
}

// none is the config of a dataplane that no policy of the kind selects.
var none Config

func orNone(c *Config) *Config {
	if c == nil {
		return &none
	}
	return c
}

func (d *differ) appendPlaces(places []Place) []Place {
	kind, a, b := d.kind(), orNone(d.before), orNone(d.after)
	if !sameConf(kind.Default, a.Default, b.Default) {
		places = append(places, Place{Policies: kind.Name, Kind: AtDefault})
	}
	for i := range max(a.afterLast(), b.afterLast()) {
		places = AppendOutbound(places, kind, Place{Index: i}, outboundAt(a, i), outboundAt(b, i))
	}
	for i := range max(len(a.Inbounds), len(b.Inbounds)) {
		if !sameInbound(kind, inboundAt(a, i), inboundAt(b, i)) {
			places = append(places, Place{Policies: kind.Name, Kind: AtInbound, Index: i})
		}
	}
	return places
}

// afterLast returns the index after the last outbound's.
func (c *Config) afterLast() int {
	if n := len(c.Outbounds); n > 0 {
		return c.Outbounds[n-1].Index + 1
	}
	return 0
}

func outboundAt(c *Config, i int) OutboundConfig {
	if o := c.Outbound(i); o != nil {
		return *o
	}
	return OutboundConfig{}
}

// elementAt returns element i, or the zero T if i is past the end.
func elementAt[T any](list []T, i int) (zero T) {
	if i < len(list) {
		return list[i]
	}
	return zero
}

// noInbound is the configuration of an inbound that is past the end of the list.
var noInbound InboundConfig

func inboundAt(c *Config, i int) *InboundConfig {
	return cmp.Or(elementAt(c.Inbounds, i), &noInbound)
}

// AppendOutbound appends the places of one outbound where two confs of it differ, as
// [Differences] does. Of identifies the outbound.
func AppendOutbound(places []Place, kind *resource.Kind, of Place, a, b OutboundConfig) []Place {
	of.Policies = kind.Name
	if of.Kind = AtOutbound; !sameConf(kind.To, a.Effective, b.Effective) {
		places = append(places, of)
	}
	var routes []resource.ID
	for _, r := range slices.Concat(a.Routes, b.Routes) {
		x, y := findRoute(a.Routes, r.Route), findRoute(b.Routes, r.Route)
		if x == nil || y == nil || x.Route.Zone() != y.Route.Zone() || !sameConf(kind.To, x.Effective, y.Effective) {
			routes = append(routes, r.Route.ID)
		}
	}
	slices.SortFunc(routes, resource.ID.Compare)
	of.Kind = AtRoute
	for _, of.Route = range slices.Compact(routes) {
		places = append(places, of)
	}
	return places
}

func findRoute(routes []RouteConfig, route *resource.Policy) *RouteConfig {
	for i := range routes {
		if routes[i].Route.ID == route.ID {
			return &routes[i]
		}
	}
	return nil
}

// sameConf reports whether two confs of a section have the same content, the
// same origins, and the same origin of each field.
func sameConf(section *resource.Section, a, b *Effective) bool {
	return a == b || a != nil && b != nil &&
		slices.EqualFunc(a.Origins, b.Origins, sameOrigin) && section.Conf.Equal(a.Conf, b.Conf) && sameFields(a, b)
}

// sameFields reports whether each field of two equal confs has the same origin. The
// origins of fields may differ even if the lists of origins are equal, for example if
// two items of a policy swap a field.
func sameFields(a, b *Effective) bool {
	next, stop := iter.Pull2(b.Fields())
	defer stop()
	for field, origin := range a.Fields() {
		if otherField, other, ok := next(); !ok || field != otherField || !sameOrigin(origin, other) {
			return false
		}
	}
	return true
}

// sameOrigin compares the identity that is printed for an origin, not the versions of
// policies.
func sameOrigin(a, b Origin) bool {
	return a == b || a.Index == b.Index && a.Policy.ID == b.Policy.ID && a.Policy.Zone() == b.Policy.Zone()
}

func sameInbound(kind *resource.Kind, a, b *InboundConfig) bool {
	return a == b || sameRules(kind.Rules, a.Rules, b.Rules) &&
		sameItems(kind.Rules, a.Unmerged, b.Unmerged) &&
		sameFrom(kind.From, a.From, b.From) &&
		a.FromIgnored == b.FromIgnored
}

func sameRules(section *resource.Section, a, b []InboundRule) bool {
	return slices.EqualFunc(a, b, func(a, b InboundRule) bool {
		return sameConf(section, a.Effective, b.Effective) && reflect.DeepEqual(a.Match, b.Match)
	})
}

func sameItems(section *resource.Section, a, b []Contribution) bool {
	return slices.EqualFunc(a, b, func(a, b Contribution) bool {
		return sameOrigin(a.Origin, b.Origin) && section.Conf.Equal(a.Conf, b.Conf)
	})
}

func sameFrom(section *resource.Section, a, b *From) bool {
	return a == b || a != nil && b != nil &&
		sameItems(section, a.items, b.items) && reflect.DeepEqual(a.selectors, b.selectors)
}
