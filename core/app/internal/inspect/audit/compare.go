package audit

import (
	"errors"
	"fmt"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// comparison compares one proxy with its dataplane.
type comparison struct {
	view    *core.View
	d       *resource.Dataplane
	options inspect.Options
	limits  access.Limits
}

func (c *comparison) proxy(p *dump.Proxy) Proxy {
	out := Proxy{
		Dataplane: inspect.DataplaneKRI(c.view, c.d), Source: p.Source, Version: p.Version, Name: c.d.Qualified(),
		Inbounds: []Inbound{}, Resources: []Resource{}, Rejected: append([]dump.Rejected{}, p.Rejected...), Findings: []Finding{},
	}
	for i := range c.d.Inbounds {
		name := find.InboundName(c.d, i)
		l := listenerOf(p, c.d, &c.d.Inbounds[i])
		if l == nil {
			none := false
			out.Inbounds = append(out.Inbounds, Inbound{Inbound: name, Listener: &none})
			out.Resources = append(out.Resources, Resource{Type: "Listener", Name: "the listener of inbound " + name, What: "missing"})
			continue
		}
		in := Inbound{Inbound: name}
		for k := range l.Chains {
			filters, err := c.chain(&in, i, l, k)
			if err != nil {
				in.Unknown = append(in.Unknown, unknownOf(err))
			}
			out.Findings = append(out.Findings, findingsOf(name, filters)...)
		}
		if len(l.Chains) == 0 {
			in.Unknown = append(in.Unknown, Difference{Why: "the listener has no filter chain"})
		}
		out.Inbounds = append(out.Inbounds, in)
	}
	out.Findings = distinct(out.Findings)
	return out
}

// chain compares a chain of the listener of an inbound. The error is a [*access.LimitError].
func (c *comparison) chain(in *Inbound, inbound int, l *dump.Listener, k int) (*rbac.Filters, error) {
	chain := &l.Chains[k]
	space := requests.SpaceOf(c.view, c.d)
	if space.Plain { // a dataplane without an identity; its proxy may have TLS
		space.NoTags = true
	}
	space.Plain = chain.TLS == dump.PlainText
	if chain.HTTP {
		space.Protocol = request.HTTP
	}
	p := requests.PermissionsOf(requests.ConfigOf(c.view, c.d), c.d, inbound, c.view.PermissionsApply(c.d))
	before := access.ListOf(space.Visible(p))
	filters := rbac.New(chain, rbac.Connection{TLS: !space.Plain, NoTags: space.NoTags || space.Plain, Port: chain.Port})
	all := space.Access()
	all.Queries = true
	differences, err := access.CompareChain(all, before, filters.Chain, c.limits)
	if err != nil {
		return filters, err
	}
	conditions := conditionsOf(chain, chainName(l, k))
	for i := range differences {
		d := &differences[i]
		c.add(in, d, filters, chainName(l, k), append(conditions[:len(conditions):len(conditions)], d.Unknown...))
	}
	if chain.HTTP && !chain.Normalizes {
		return filters, c.evasions(in, all, p, before, filters, chainName(l, k))
	}
	return filters, nil
}

func (c *comparison) add(in *Inbound, d *access.ChainDifference, filters *rbac.Filters, chain string, conditions []string) {
	w := inspect.NewWitness(d.Witness)
	filter, policy := filters.By(d.After)
	out := Difference{
		Witness: &w, Conditions: conditions,
		By: &By{ByProxy{filter, policy, chain}, inspect.NewDecision(d.Before, c.options).By},
	}
	switch {
	case len(conditions) > 0:
		in.Unknown = append(in.Unknown, out)
	case d.After.Allow:
		in.Allows = append(in.Allows, out)
	default:
		in.Denies = append(in.Denies, out)
	}
}

// evasions adds requests whose path a proxy does not put into normal form: policies deny the path
// that the workload may read, and the proxy allows the path as the client writes it.
func (c *comparison) evasions(in *Inbound, space *access.Space, p *permission.Permissions, list *access.List, filters *rbac.Filters, chain string) error {
	if p.Rules == nil || !p.Rules.AsksForPath() {
		return nil
	}
	regions, err := access.Regions(&access.Space{Protocol: space.Protocol, Plain: space.Plain, NoTags: space.NoTags, TrustDomains: space.TrustDomains}, list, nil, c.limits)
	if err != nil {
		return err
	}
	raw := *space
	raw.Raw = true
	for _, region := range regions {
		if region.Allow {
			continue
		}
		for _, before := range []string{"/", "/x/.."} {
			w := *region.Witness
			w.Path = before + w.Path
			outcomes, err := access.Outcomes(&raw, filters.Chain, &w, access.Parts{}, c.limits)
			if limit := (*access.LimitError)(nil); errors.As(err, &limit) {
				return fmt.Errorf("paths that are not in normal form: %w", limit)
			}
			if len(outcomes) == 1 && outcomes[0].Allow {
				c.add(in, &access.ChainDifference{Before: region.Decision, After: outcomes[0], Witness: &w}, filters, chain, nil)
				break
			}
		}
	}
	return nil
}
