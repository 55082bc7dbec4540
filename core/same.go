package core

import (
	"reflect"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// sameDataplane reports whether an upsert says what is known already. A source
// that tells everything again from time to time then changes nothing.
func sameDataplane(a, b *resource.Dataplane) bool {
	return a == b || sameMeta(&a.Meta, &b.Meta) && a.Address == b.Address &&
		slices.EqualFunc(a.Inbounds, b.Inbounds, func(a, b resource.Inbound) bool {
			return a.Port == b.Port && a.Name == b.Name && a.Address == b.Address && a.ServicePort == b.ServicePort &&
				a.Protocol == b.Protocol && slices.Equal(a.Tags, b.Tags)
		}) &&
		slices.EqualFunc(a.Outbounds, b.Outbounds, func(a, b resource.Outbound) bool {
			return a.Port == b.Port && a.Address == b.Address && slices.Equal(a.Tags, b.Tags)
		}) &&
		sameGateway(a.Gateway, b.Gateway)
}

func sameGateway(a, b *resource.GatewayProxy) bool {
	return a == b || a != nil && b != nil && a.Builtin == b.Builtin && slices.Equal(a.Tags, b.Tags)
}

func sameMeta(a, b *resource.Meta) bool {
	return a.ID == b.ID && a.Pos == b.Pos && slices.Equal(a.Labels, b.Labels)
}

// samePolicy is [sameDataplane] for policies.
func samePolicy(a, b *resource.Policy) bool {
	return a == b || sameMeta(&a.Meta, &b.Meta) &&
		sameTarget(&a.TargetRef, &b.TargetRef) && a.TargetPos == b.TargetPos && a.DefaultPos == b.DefaultPos &&
		sameItems(a.Type.To, a.To, b.To) && sameItems(a.Type.From, a.From, b.From) &&
		(a.Rules == nil) == (b.Rules == nil) && slices.EqualFunc(a.Rules, b.Rules, func(x, y resource.Rule) bool {
		return x.Pos == y.Pos && sameMatches(x.Matches, y.Matches) && a.Type.Rules.Conf.Equal(x.Conf, y.Conf)
	}) &&
		(a.Type.Default == nil || a.Type.Default.Conf.Equal(a.Default, b.Default))
}

func sameItems(section *resource.Section, a, b []resource.Item) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(a, b resource.Item) bool {
		return a.Pos == b.Pos && sameTarget(&a.TargetRef, &b.TargetRef) && section.Conf.Equal(a.Conf, b.Conf)
	})
}

func sameMatches(a, b []conf.Match) bool { return reflect.DeepEqual(a, b) }

func sameTarget(a, b *resource.TargetRef) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Namespace == b.Namespace &&
		slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Labels, b.Labels) &&
		a.SectionName == b.SectionName && a.ProxyTypes == b.ProxyTypes
}
