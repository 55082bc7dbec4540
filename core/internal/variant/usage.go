package variant

import (
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Usage counts the dataplanes of a view that the variants of a destination
// serve.
type Usage struct {
	// Dataplanes is the number of dataplanes with an outbound to the destination.
	// Without variants, as many resources would be needed.
	Dataplanes int
	// Served is the number of dataplanes that have the content of a variant,
	// by the index of the variant.
	Served []int
	// Others are the dataplanes with another content, sorted by identity. They have
	// several inbounds or none, because parameters describe a dataplane with one
	// inbound.
	Others []*resource.Dataplane
}

// UsageOf counts the dataplanes of a view that the variants serve. The variants must have
// been compiled from this view. If the engine of the view does not have the kind, the
// error is a [core.ErrUnknownKind]. A dataplane with several inbounds is counted by its
// content.
func (v *PolicyVariants) UsageOf(view *core.View) (*Usage, error) {
	u := &Usage{Served: make([]int, len(v.Contents))}
	known := map[*results.Effective]int{} // dataplanes share confs
	for _, d := range view.Dataplanes(v.Destination.Mesh) {
		out := slices.IndexFunc(d.Outbounds, func(o resource.Outbound) bool { return slices.Equal(o.Tags, v.Destination.Tags) })
		if out < 0 {
			continue
		}
		u.Dataplanes++
		config, err := view.Config(d, v.Kind.Name, core.Enforced)
		if err != nil {
			return nil, err
		}
		if served := v.find(config, out, known); served >= 0 {
			u.Served[served]++
		} else {
			u.Others = append(u.Others, d)
		}
	}
	return u, nil
}

// find returns the variant with the content of an outbound, or -1.
func (v *PolicyVariants) find(config *results.Config, outbound int, known map[*results.Effective]int) int {
	var shared *results.Effective // identifies the content if there are no routes
	if of := config.Outbound(outbound); len(of.Routes) == 0 {
		shared = of.Effective
	}
	if found, ok := known[shared]; ok && shared != nil {
		return found
	}
	content := ContentOf(config, outbound)
	found := slices.IndexFunc(v.Contents, func(c *PolicyContent) bool { return c.Equal(content, v.Kind) })
	if shared != nil {
		known[shared] = found
	}
	return found
}
