package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// PolicyBuilder makes a policy in Go. C is the Conf type of the kind's `to`,
// `from` and `default`; R is the Conf type of its `rules`. For most kinds they
// are the same. Each kind's package has a function New that returns a builder:
//
//	policy, err := meshtimeout.New("default", "web").
//		Select(resource.Service("web")).
//		To(resource.WholeMesh(), meshtimeout.Conf{IdleTimeout: new(conf.Duration(time.Hour))}).
//		Policy()
type PolicyBuilder[C, R any] struct{ policy Policy }

// NewPolicy returns the builder of a policy that selects the whole mesh. The
// package of a kind calls it with its Conf types.
func NewPolicy[C, R any](kind *Kind, mesh, name string) *PolicyBuilder[C, R] {
	return &PolicyBuilder[C, R]{Policy{
		Meta: Meta{ID: ID{Kind: kind.Name, Mesh: mesh, Name: name}},
		Type: kind, TargetRef: WholeMesh(),
	}}
}

// Namespace sets the namespace, and the label for it.
func (b *PolicyBuilder[C, R]) Namespace(namespace string) *PolicyBuilder[C, R] {
	b.policy.Namespace = namespace
	return b.Label(NamespaceLabel, namespace)
}

// Label sets a label.
func (b *PolicyBuilder[C, R]) Label(key, value string) *PolicyBuilder[C, R] {
	b.policy.Labels = b.policy.Labels.With(key, value)
	return b
}

// Select sets the top-level targetRef.
func (b *PolicyBuilder[C, R]) Select(target TargetRef) *PolicyBuilder[C, R] {
	b.policy.TargetRef = target
	return b
}

// To adds an item to `to`. In kinds without outbounds it is for the listeners of gateways.
func (b *PolicyBuilder[C, R]) To(target TargetRef, c C) *PolicyBuilder[C, R] {
	b.policy.To = append(b.policy.To, Item{TargetRef: target, Conf: &c})
	return b
}

// From adds an item to `from`.
func (b *PolicyBuilder[C, R]) From(target TargetRef, c C) *PolicyBuilder[C, R] {
	b.policy.From = append(b.policy.From, Item{TargetRef: target, Conf: &c})
	return b
}

// Rule adds a rule to `rules`; no matches mean every request.
func (b *PolicyBuilder[C, R]) Rule(r R, matches ...conf.Match) *PolicyBuilder[C, R] {
	b.policy.Rules = append(b.policy.Rules, Rule{Matches: matches, Conf: &r})
	return b
}

// Default sets the only Conf of a kind without arrays.
func (b *PolicyBuilder[C, R]) Default(c C) *PolicyBuilder[C, R] {
	b.policy.Default = &c
	return b
}

// Policy returns the policy, or the errors that a file with the same content
// would have, as [diag.Errors]. The builder can be used again: it does not
// change the returned policy.
func (b *PolicyBuilder[C, R]) Policy() (*Policy, error) {
	p := b.policy
	if p.Type.To == nil && p.Type.hasListenersFor(&p.TargetRef) {
		p.To, p.Gateway = nil, slices.Clip(p.To)
	}
	p.To, p.From, p.Rules = slices.Clip(p.To), slices.Clip(p.From), slices.Clip(p.Rules)
	return &p, check(&p.Meta, p.Validate)
}

// check returns the errors that a Validate method reports.
func check(m *Meta, validate func(*diag.At)) error {
	var sink diag.Sink
	validate(m.Place(&sink))
	return sink.Err()
}

// DataplaneBuilder makes a dataplane in Go.
type DataplaneBuilder struct{ dataplane Dataplane }

// NewDataplane returns the builder of a sidecar's dataplane with an address.
func NewDataplane(mesh, name, address string) *DataplaneBuilder {
	return &DataplaneBuilder{Dataplane{Meta: Meta{ID: ID{Kind: DataplaneKind, Mesh: mesh, Name: name}}, Address: address}}
}

// Namespace sets the namespace, and the label for it.
func (b *DataplaneBuilder) Namespace(namespace string) *DataplaneBuilder {
	b.dataplane.Namespace = namespace
	return b.Label(NamespaceLabel, namespace)
}

// Label sets a label.
func (b *DataplaneBuilder) Label(key, value string) *DataplaneBuilder {
	b.dataplane.Labels = b.dataplane.Labels.With(key, value)
	return b
}

// Inbound adds an inbound. Make its tags, which must include [ServiceTag], with
// [NewTags].
func (b *DataplaneBuilder) Inbound(inbound Inbound) *DataplaneBuilder {
	b.dataplane.Inbounds = append(b.dataplane.Inbounds, inbound)
	return b
}

// Outbound adds an outbound.
func (b *DataplaneBuilder) Outbound(outbound Outbound) *DataplaneBuilder {
	b.dataplane.Outbounds = append(b.dataplane.Outbounds, outbound)
	return b
}

// Gateway makes the dataplane a gateway, which has no inbounds.
func (b *DataplaneBuilder) Gateway(gateway GatewayProxy) *DataplaneBuilder {
	b.dataplane.Gateway = &gateway
	return b
}

// Dataplane returns the dataplane, or the errors that a file with the same
// content would have, as [diag.Errors]. The builder can be used again: it does
// not change the returned dataplane.
func (b *DataplaneBuilder) Dataplane() (*Dataplane, error) {
	d := b.dataplane
	d.Inbounds, d.Outbounds = slices.Clip(d.Inbounds), slices.Clip(d.Outbounds)
	return &d, check(&d.Meta, d.Validate)
}
