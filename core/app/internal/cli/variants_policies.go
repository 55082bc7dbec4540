package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newVariantsPolicies(g *globals) *cobra.Command {
	var kindName, outbound string
	c := &cobra.Command{
		Use:   "policies --kind KIND --outbound SERVICE",
		Short: "Compile the policies of a kind to variants by the tags of clients",
		Long: `Compile all policies of a kind to the effective confs of outbounds to one
service, as variants of one resource. The outbounds are those by the tag kuma.io/service; those
of a MeshService have no variants. The parameters are the tags, labels and names of
a dataplane with one inbound (label KEY is @label/KEY, and there are @name,
@namespace and @section). The answer counts the dataplanes that each variant serves,
and the resources that the variants replace: without variants each dataplane has one
of its own.

A dataplane with several inbounds is served by a variant if all of its inbounds
choose it; others are listed.`,
		Example: `  meshmatch variants policies --kind MeshTimeout --outbound backend -f policies/ -f dataplanes/
  meshmatch variants policies --kind mt --outbound 'payments?version=v2' -f policies/ -o json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case kindName == "":
				return usagef("no policy kind is given; give --kind, such as MeshTimeout")
			case outbound == "":
				return usagef("no outbound is given; give --outbound, such as backend")
			}
			kind, err := find.Kind(g.kinds, kindName)
			if err != nil {
				return err
			}
			if kind.To == nil {
				return usagef("%s has no confs for outbounds", kind.Name)
			}
			w, err := g.load(c)
			if err != nil {
				return err
			}
			destination, err := destinationNamed(w.view, w.mesh, outbound)
			if err != nil {
				return err
			}
			variants, err := variant.NewPolicyCompiler(w.view, w.mesh, kind).Variants(destination)
			if limit := new(partition.LimitError); errors.As(err, &limit) {
				return tooManyVariants(kind, outbound, limit)
			}
			if err != nil {
				return err
			}
			usage, err := variant.NewInbounds(w.view, w.mesh).UsageOf(variants)
			if err != nil {
				return err
			}
			answer := newPolicyVariants(w.view.Semantics(), variants, usage)
			return g.print(c, answer, func(p *page) { policyVariantsPage(p, variants, usage) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&kindName, "kind", "", "the policy `KIND` (required)")
	flags.StringVar(&outbound, "outbound", "", "the `SERVICE` of the outbounds, with further tags SERVICE?KEY=VALUE&KEY=VALUE (required)")
	return c
}

// tooManyVariants returns the error of a destination with more variants than an answer has
// (SPEC 9.4).
func tooManyVariants(kind *resource.Kind, outbound string, limit *partition.LimitError) error {
	const shown = 10
	keys := strings.Join(limit.Keys[:min(shown, len(limit.Keys))], ", ")
	if more := len(limit.Keys) - shown; more > 0 {
		keys += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("%s for outbounds to %s: the conf has more than %d variants; its items differ by the tags %s; ask for one client at a time with conf",
		kind.Name, outbound, variant.MaxPolicyVariants, keys)
}

// destinationOutbound returns the MeshService, MeshExternalService or MeshMultiZoneService
// of an outbound of a dataplane with a name, or nil.
func destinationOutbound(view *core.View, d *resource.Dataplane, name string) resource.Destination {
	at, err := find.Outbound(view, d, name)
	if err != nil {
		return nil
	}
	listed := 0
	for i := range d.Outbounds {
		if d.Outbounds[i].Backend == nil {
			listed++
		}
	}
	if at < listed {
		return nil
	}
	return view.DestinationOutbounds(d)[at-listed].Destination
}

// destinationNamed returns the destination of some outbound of the mesh.
func destinationNamed(view *core.View, mesh, text string) (variant.Destination, error) {
	var names []string
	var untagged resource.Destination
	wanted, valid := variant.ParseDestination(mesh, text)
	for _, d := range view.Dataplanes(mesh) {
		for _, o := range d.Outbounds {
			if valid && slices.Equal(o.Tags, wanted.Tags) {
				return wanted, nil
			}
			if o.Backend == nil {
				names = append(names, variant.Destination{Mesh: mesh, Tags: o.Tags}.String())
			}
		}
		if untagged == nil {
			untagged = destinationOutbound(view, d, text)
		}
	}
	if untagged != nil {
		return variant.Destination{}, fmt.Errorf("the outbounds to %q are of the %s, and have no tags: variants are compiled for outbounds by the tag kuma.io/service; ask for one dataplane at a time with conf --outbound %s", text, untagged.Identity(), text)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	message := fmt.Sprintf("no dataplane of mesh %q has an outbound to %q", mesh, text)
	hint := diag.DidYouMean(text, names)
	if hint == "" && len(names) > 0 {
		hint = "there are " + strings.Join(names, ", ")
	}
	return variant.Destination{}, errors.New(diag.WithHint(message, hint))
}

// policyVariants is the answer of `variants policies`.
type policyVariants struct {
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Variants   []policyVariant `json:"variants"`
	Dataplanes int             `json:"dataplanes"`
	Others     []string        `json:"others"`
}

type policyVariant struct {
	Constraints variant.Constraint `json:"constraints"`
	Conf        resource.Conf      `json:"conf,omitempty"`
	Routes      []policyRoute      `json:"routes,omitempty"`
	Dataplanes  int                `json:"dataplanes"`
}

type policyRoute struct {
	Route string        `json:"route"`
	Conf  resource.Conf `json:"conf"`
}

// newPolicyVariants has the KRIs of answers by a semantics.
func newPolicyVariants(by semantics.Semantics, v *variant.PolicyVariants, usage *variant.Usage) *policyVariants {
	answer := &policyVariants{Kind: v.Kind.Name, Name: v.Destination.Name(), Dataplanes: usage.Dataplanes, Others: []string{}}
	for i, content := range v.Contents {
		answer.Variants = append(answer.Variants, policyVariant{v.Set.Constraint(i), content.Conf, routesOfContent(by, content), usage.Served[i]})
	}
	for _, d := range usage.Others {
		answer.Others = append(answer.Others, by.KRI(d.KRI(""), &d.Meta))
	}
	return answer
}

func routesOfContent(by semantics.Semantics, content *variant.PolicyContent) []policyRoute {
	var routes []policyRoute
	for _, r := range content.Routes {
		routes = append(routes, policyRoute{by.KRI(r.Route.KRI(), &r.Route.Meta), r.Conf})
	}
	return routes
}

// policyVariantsPage prints the variants that serve most dataplanes first.
func policyVariantsPage(p *page, v *variant.PolicyVariants, usage *variant.Usage) {
	p.heading(0, "%s for outbounds to %s: %s in the place of %s", v.Kind.Name, v.Destination, diag.Count(v.Set.Len(), "variant"), diag.Count(usage.Dataplanes, "resource"))
	order := make([]int, v.Set.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return usage.Served[b] - usage.Served[a] })
	p.row("dataplanes", "conf", "constraint")
	for _, i := range order {
		content := v.Contents[i]
		text := "none"
		if content.Conf != nil {
			text = shortJSON(content.Conf)
		}
		for _, r := range content.Routes {
			text += "  " + r.Route.Name + ": " + shortJSON(r.Conf)
		}
		p.row(strconv.Itoa(usage.Served[i]), text, v.Set.Short(i))
	}
	if len(usage.Others) > 0 {
		names := make([]string, len(usage.Others))
		for i, d := range usage.Others {
			names[i] = d.Name
		}
		p.line("%s whose inbounds choose different variants: %s", diag.Count(len(names), "dataplane"), someOf(names, 10))
	}
}
