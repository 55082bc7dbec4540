package variant

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Usage counts the dataplanes of a view that the variants of a destination
// serve.
type Usage struct {
	// Dataplanes is the number of dataplanes with an outbound to the destination.
	// Without variants, as many resources would be needed.
	Dataplanes int
	// Served is the number of dataplanes that a variant serves, by the index of the
	// variant: it is the variant of each of their inbounds.
	Served []int
	// Others are the dataplanes that no variant serves, sorted by identity: their inbounds
	// choose different variants, or a policy selects their gateway alone.
	Others []*resource.Dataplane
}

// UsageOf counts the dataplanes that the variants serve (SPEC 9.4). The variants must have
// been compiled from the view of x. If the engine of the view does not have the kind, the
// error is a [core.ErrUnknownKind].
func (x *Inbounds) UsageOf(v *PolicyVariants) (*Usage, error) {
	clients := x.clientsOf(v.Destination)
	u := &Usage{Dataplanes: clients.Len(), Served: make([]int, len(v.Contents))}
	others := clients.Edit()
	for i := range v.Contents {
		served, err := x.servedBy(v, i, clients)
		if err != nil {
			return nil, err
		}
		u.Served[i] = served.Len()
		others.RemoveAll(served)
	}
	for number := range others.Commit().All() {
		u.Others = append(u.Others, x.byNumber[number])
	}
	slices.SortFunc(u.Others, func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) })
	return u, nil
}

// servedBy returns the dataplanes of a set whose inbounds all choose a variant.
func (x *Inbounds) servedBy(v *PolicyVariants, variant int, clients index.Set) (index.Set, error) {
	if len(x.positions) == 0 {
		return index.Set{}, nil
	}
	predicate := v.Set.choice.Sets()[variant].Predicate()
	served := x.accepted(predicate, 0, clients)
	for position := 1; position < len(x.positions); position++ {
		has := served.And(x.positions[position].Set(everyInbound))
		served = served.AndNot(has.AndNot(x.accepted(predicate, position, has)))
	}
	// A policy may select gateways alone (SPEC 2.2), which parameters do not describe.
	for number := range served.And(x.gateways.Commit()).All() {
		has, err := x.hasContent(v, variant, x.byNumber[number])
		if err != nil {
			return index.Set{}, err
		}
		if !has {
			left := served.Edit()
			left.Remove(number)
			served = left.Commit()
		}
	}
	return served, nil
}

// hasContent reports whether an outbound of a dataplane has the content of a variant.
func (x *Inbounds) hasContent(v *PolicyVariants, variant int, d *resource.Dataplane) (bool, error) {
	config, err := x.view.Config(d, v.Kind.Name, core.Enforced)
	if err != nil {
		return false, err
	}
	out := slices.IndexFunc(d.Outbounds, func(o resource.Outbound) bool { return slices.Equal(o.Tags, v.Destination.Tags) })
	return v.Contents[variant].Equal(ContentOf(config, out), v.Kind), nil
}
