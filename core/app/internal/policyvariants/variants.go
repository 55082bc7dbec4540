package policyvariants

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
)

// An Index answers by the sets of the inbounds of one mesh, the mesh of the last question. It follows the views of
// the questions. The zero Index is empty. It is safe for concurrent use.
type Index struct {
	mu       sync.Mutex
	mesh     string
	inbounds *variant.Inbounds
}

// Ask returns the variants of the confs of a kind for the outbounds with a name.
func (x *Index) Ask(view *core.View, mesh string, kind *resource.Kind, outbound string) (*Answer, error) {
	if err := Supports(kind); err != nil {
		return nil, err
	}
	destination, err := destinationNamed(view, mesh, outbound)
	if err != nil {
		return nil, err
	}
	compiled, err := variant.NewPolicyCompiler(view, mesh, kind).Compilation(destination).Compile(variant.MaxPolicyVariants)
	if limit := new(partition.LimitError); errors.As(err, &limit) {
		return nil, tooManyVariants(kind, outbound, limit)
	}
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.inbounds == nil || x.mesh != mesh {
		x.mesh, x.inbounds = mesh, variant.NewInbounds(view, mesh)
	} else {
		x.inbounds.Update(view)
	}
	usage, err := x.inbounds.UsageOf(compiled)
	if err != nil {
		return nil, err
	}
	return newAnswer(view.Semantics(), compiled, usage), nil
}

// Supports returns an error if the policies of a kind have no confs for outbounds.
func Supports(kind *resource.Kind) error {
	if kind.To == nil {
		return fmt.Errorf("%s has no confs for outbounds", kind.Name)
	}
	return nil
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
	wanted, valid := variant.ParseDestination(mesh, text)
	for _, d := range view.Dataplanes(mesh) {
		if valid && slices.ContainsFunc(d.Outbounds, func(o resource.Outbound) bool { return slices.Equal(o.Tags, wanted.Tags) }) {
			return wanted, nil
		}
	}
	var names []string
	var untagged resource.Destination
	for _, d := range view.Dataplanes(mesh) {
		for _, o := range d.Outbounds {
			if o.Backend == nil {
				names = append(names, variant.Destination{Mesh: mesh, Tags: o.Tags}.String())
			}
		}
		if untagged == nil {
			untagged = destinationOutbound(view, d, text)
		}
	}
	if untagged != nil {
		return variant.Destination{}, fmt.Errorf("the outbounds to %q are of the %s, and have no tags: variants are compiled for outbounds by the tag kuma.io/service; ask for the conf of one dataplane at a time", text, untagged.Identity())
	}
	slices.Sort(names)
	names = slices.Compact(names)
	message := fmt.Sprintf("no dataplane of mesh %q has an outbound to %q", mesh, text)
	hint := diag.DidYouMean(text, names)
	if hint == "" && len(names) > 0 {
		hint = "there are " + strings.Join(names, ", ")
	}
	return variant.Destination{}, find.NotFoundf("%s", diag.WithHint(message, hint))
}

// Answer is the answer of `variants policies`.
type Answer struct {
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`
	Variants   []Variant `json:"variants"`
	Dataplanes int       `json:"dataplanes"`
	Others     []string  `json:"others"`

	Compiled *variant.PolicyVariants `json:"-"`
	Usage    *variant.Usage          `json:"-"`
}

// Variant is a conf of the outbounds of some dataplanes, with its routes.
type Variant struct {
	Constraints variant.Constraint `json:"constraints"`
	Conf        resource.Conf      `json:"conf,omitempty"`
	Routes      []Route            `json:"routes,omitempty"`
	Dataplanes  int                `json:"dataplanes"`
}

// Route is the conf of an outbound on a route.
type Route struct {
	Route string        `json:"route"`
	Conf  resource.Conf `json:"conf"`
}

// newAnswer has the KRIs of answers by a semantics.
func newAnswer(by semantics.Semantics, v *variant.PolicyVariants, usage *variant.Usage) *Answer {
	answer := &Answer{Kind: v.Kind.Name, Name: v.Destination.Name(), Dataplanes: usage.Dataplanes, Others: []string{}, Compiled: v, Usage: usage}
	for i, content := range v.Contents {
		answer.Variants = append(answer.Variants, Variant{v.Set.Constraint(i), content.Conf, lists.Map(content.Routes, func(r variant.RouteConf) Route { return Route{by.KRI(r.Route.KRI(), &r.Route.Meta), r.Conf} }), usage.Served[i]})
	}
	for _, d := range usage.Others {
		answer.Others = append(answer.Others, by.KRI(d.KRI(""), &d.Meta))
	}
	return answer
}
