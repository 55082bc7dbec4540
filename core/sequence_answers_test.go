package core_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// answers is what views say of dataplanes, as JSON.
type answers map[resource.ID][2]answer // effective, shadow

type answer struct {
	all    string
	places map[rules.Place]string
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

// checkStrangers compares what is kept for dataplanes with what is evaluated
// for others that are like them (rules.Evaluate).
func (s *sequence) checkStrangers(v *core.View) {
	for id, known := range s.answers {
		stranger := *v.Dataplane(id)
		if got := s.answer(v, &stranger, false); got.all != known[0].all {
			s.Fatalf("%s would get something else if it came now: %s", id.Name, cmp.Diff(known[0].all, got.all))
		}
	}
}

func (s *sequence) answer(v *core.View, d *resource.Dataplane, shadow bool) answer {
	a, err := inspect.NewDataplane(v, d, inspect.Options{Shadow: shadow, Explain: true})
	if err != nil {
		s.Fatal(err)
	}
	var buffer match.Buffer
	n := 0
	for _, c := range v.Configs(d, core.Scope{Shadow: shadow}) {
		n += c.Matched.Len()
	}
	if selected := v.Select(d, core.Scope{Shadow: shadow}, &buffer); len(selected) != n {
		s.Fatalf("%s is selected by %d policies, and has configs of %d", d.Name, len(selected), n)
	}
	return answer{s.json(a), s.placesOf(v.Configs(d, core.Scope{Shadow: shadow}))}
}

// placesOf renders what stands where confs can stand.
func (s *sequence) placesOf(configs []*rules.Config) map[rules.Place]string {
	places := map[rules.Place]string{}
	for _, c := range configs {
		if c.Default != nil {
			places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtDefault}] = s.text(c.Default)
		}
		for i, o := range c.Outbounds {
			if o.Effective != nil {
				places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtOutbound, Index: i}] = s.text(o.Effective)
			}
			for _, r := range o.Routes {
				places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtRoute, Index: i, Route: r.Route.ID}] = r.Route.KRI() + s.text(r.Effective)
			}
		}
		for i, in := range c.Inbounds {
			if text := s.inboundText(&in); text != "" {
				places[rules.Place{Policies: c.Kind.Name, Kind: rules.AtInbound, Index: i}] = text
			}
		}
	}
	return places
}

func (s *sequence) inboundText(in *rules.InboundConfig) string {
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

// text renders a conf with its origins, those of its fields too.
func (s *sequence) text(e *rules.Effective) string {
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

func originText(o rules.Origin) string { return fmt.Sprintf("%s[%d]", o.Policy.KRI(), o.Index) }

func (s *sequence) json(v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		s.Fatal(err)
	}
	return string(data)
}
