package core_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// answers contains the answers of a view for dataplanes, as JSON.
type answers map[resource.ID][2]answer // effective, shadow

type answer struct {
	all    string
	places map[results.Place]string
}

func (s *sequence) answersOf(v *core.View) answers {
	out := answers{}
	for _, mesh := range v.Meshes() {
		for _, d := range v.Dataplanes(mesh) {
			out[d.ID] = [2]answer{s.answer(v, d, false), s.answer(v, d, true)}
		}
	}
	return out
}

// checkOutsiders compares the configs of dataplanes with the configs of equal dataplanes
// outside the view.
func (s *sequence) checkOutsiders(v *core.View) {
	for id, known := range s.answers {
		outsider := *v.Dataplane(id)
		if got := s.answer(v, &outsider, false); got.all != known[0].all {
			s.Fatalf("%s has another answer if it is outside the view: %s", id.Name, cmp.Diff(known[0].all, got.all))
		}
	}
}

func (s *sequence) answer(v *core.View, d *resource.Dataplane, shadow bool) answer {
	scope := core.Enforced
	if shadow {
		scope = core.Shadow
	}
	configs := v.Configs(d, scope)
	places := s.placesOf(configs)
	var all strings.Builder
	for _, c := range configs {
		fmt.Fprintf(&all, "%s", c.Kind.Name)
		for _, selected := range c.Matched.All() {
			fmt.Fprintf(&all, " %s", selected.Policy.KRI())
		}
		all.WriteString("\n")
	}
	var lines []string
	for place, text := range places {
		lines = append(lines, fmt.Sprintf("%v: %s", place, text))
	}
	slices.Sort(lines)
	all.WriteString(strings.Join(lines, "\n"))
	return answer{all.String(), places}
}

// placesOf renders the conf of each place.
func (s *sequence) placesOf(configs []*results.Config) map[results.Place]string {
	places := map[results.Place]string{}
	for _, c := range configs {
		if c.Default != nil {
			places[results.Place{Policies: c.Kind.Name, Kind: results.AtDefault}] = s.text(c.Default)
		}
		for _, o := range c.Outbounds {
			if o.Effective != nil {
				places[results.Place{Policies: c.Kind.Name, Kind: results.AtOutbound, Index: o.Index}] = s.text(o.Effective)
			}
			for _, r := range o.Routes {
				places[results.Place{Policies: c.Kind.Name, Kind: results.AtRoute, Index: o.Index, Route: r.Route.ID}] = r.Route.KRI() + s.text(r.Effective)
			}
		}
		for i, in := range c.Inbounds {
			if text := s.inboundText(in); text != "" {
				places[results.Place{Policies: c.Kind.Name, Kind: results.AtInbound, Index: i}] = text
			}
		}
	}
	return places
}

func (s *sequence) inboundText(in *results.InboundConfig) string {
	var text strings.Builder
	for _, r := range in.Rules {
		text.WriteString(s.json(r.Match) + s.text(r.Effective))
	}
	for _, item := range in.Unmerged {
		text.WriteString(originText(item.Origin) + s.json(item.Conf))
	}
	if in.From != nil {
		for _, o := range in.From.Origins() {
			text.WriteString("from " + originText(o))
		}
		disjoint, err := in.From.Disjoint(partition.Limits{})
		if err != nil {
			s.Fatal(err)
		}
		for _, r := range disjoint {
			text.WriteString(r.Selector.String() + s.text(r.Effective))
		}
	}
	if in.FromIgnored {
		text.WriteString("from is ignored")
	}
	return text.String()
}

// text renders a conf with its origins and the origins of its fields.
func (s *sequence) text(e *results.Effective) string {
	if e == nil {
		return "nothing"
	}
	text := s.json(e.Conf)
	for _, o := range e.Origins {
		text += " by " + originText(o)
	}
	for field, o := range e.Fields() {
		text += " " + field + " by " + originText(o)
	}
	return text
}

func originText(o results.Origin) string { return fmt.Sprintf("%s[%d]", o.Policy.KRI(), o.Index) }

func (s *sequence) json(v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}
