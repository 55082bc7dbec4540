package mesh

import (
	"reflect"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// An upsert repeats a known resource if it has the same content at the same
// position of a file: then it changes nothing, so a source may send all its
// resources again from time to time. [Compare] ignores positions, which appear in
// messages only: a line that is added to a file moves the resources after it and
// changes none of them.

func repeatsMesh(a, b *resource.Mesh) bool {
	return a.Pos == b.Pos && equalMeta(&a.Meta, &b.Meta) && reflect.DeepEqual(a.Spec, b.Spec)
}

// repeatsDataplane also compares the documents of derived dataplanes, because these are
// derived again when the objects of the mesh change.
func repeatsDataplane(a, b *resource.Dataplane) bool {
	declaredA, declaredB := a.Declared(), b.Declared()
	return a.Pos == b.Pos && equalDataplane(declaredA, declaredB) && (a == declaredA && b == declaredB || equalDataplane(a, b))
}

func repeatsPolicy(a, b *resource.Policy) bool {
	samePosition := func(a, b resource.Item) bool { return a.Pos == b.Pos }
	return a.Pos == b.Pos && a.TargetPos == b.TargetPos && a.DefaultPos == b.DefaultPos &&
		slices.EqualFunc(a.To, b.To, samePosition) && slices.EqualFunc(a.Gateway, b.Gateway, samePosition) && slices.EqualFunc(a.From, b.From, samePosition) &&
		slices.EqualFunc(a.Rules, b.Rules, func(a, b resource.Rule) bool { return a.Pos == b.Pos }) &&
		slices.Equal(a.SchemaDefaults, b.SchemaDefaults) && slices.Equal(a.Unread, b.Unread) && equalPolicy(a, b)
}

func equalDataplane(a, b *resource.Dataplane) bool {
	return a == b || equalMeta(&a.Meta, &b.Meta) && a.Address == b.Address && a.AdvertisedAddress == b.AdvertisedAddress &&
		slices.EqualFunc(a.Inbounds, b.Inbounds, func(a, b resource.Inbound) bool {
			return a.Port == b.Port && a.Name == b.Name && a.Address == b.Address && a.ServicePort == b.ServicePort &&
				a.ServiceAddress == b.ServiceAddress && a.Protocol == b.Protocol && slices.Equal(a.Tags, b.Tags) && a.NotReady == b.NotReady
		}) &&
		(sameList(a.Outbounds, b.Outbounds) || slices.EqualFunc(a.Outbounds, b.Outbounds, func(a, b resource.Outbound) bool {
			return a.Port == b.Port && a.Address == b.Address && slices.Equal(a.Tags, b.Tags) && a.Backend.Equal(b.Backend)
		})) &&
		slices.EqualFunc(a.Listeners, b.Listeners, func(a, b resource.Listener) bool { return reflect.DeepEqual(a, b) }) &&
		equalGateway(a.Gateway, b.Gateway) && reflect.DeepEqual(a.TransparentProxy, b.TransparentProxy)
}

func equalGateway(a, b *resource.GatewayProxy) bool {
	return a == b || a != nil && b != nil && a.Builtin == b.Builtin && slices.Equal(a.Tags, b.Tags) && equalMeshGateway(a.MeshGateway, b.MeshGateway)
}

func equalMeshGateway(a, b *resource.MeshGateway) bool {
	return a == b || a != nil && b != nil && equalMeta(&a.Meta, &b.Meta) && reflect.DeepEqual(a.Spec, b.Spec)
}

func equalMeta(a, b *resource.Meta) bool {
	return a.ID == b.ID && slices.Equal(a.Labels, b.Labels)
}

func equalPolicy(a, b *resource.Policy) bool {
	return a == b || equalMeta(&a.Meta, &b.Meta) && a.TargetRef.Equal(&b.TargetRef) &&
		equalItems(a.Type.To, a.To, b.To) && equalItems(a.Type.From, a.From, b.From) &&
		equalItems(a.Type.Gateway, a.Gateway, b.Gateway) &&
		(a.Rules == nil) == (b.Rules == nil) && slices.EqualFunc(a.Rules, b.Rules, func(x, y resource.Rule) bool {
		return reflect.DeepEqual(x.Matches, y.Matches) && a.Type.Rules.Conf.Equal(x.Conf, y.Conf)
	}) &&
		(a.Type.Default == nil || a.Type.Default.Conf.Equal(a.Default, b.Default))
}

func equalItems(section *resource.Section, a, b []resource.Item) bool {
	return (a == nil) == (b == nil) && slices.EqualFunc(a, b, func(a, b resource.Item) bool {
		return a.TargetRef.Equal(&b.TargetRef) && section.Conf.Equal(a.Conf, b.Conf)
	})
}
