package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Inbound is an inbound with the confs of its clients and requests.
type Inbound struct {
	Inbound InboundRef `json:"inbound"`
	InboundRules
}

// InboundRules are the rules of an inbound or a listener.
type InboundRules struct {
	From        []SelectorRule `json:"from,omitempty"`
	Rules       []InboundRule  `json:"rules,omitempty"`       // first match first
	Permissions []Permission   `json:"permissions,omitempty"` // policies in order, then rules
}

// InboundRef identifies an inbound.
type InboundRef struct {
	Name    string        `json:"name"` // its port if it has no name
	Address string        `json:"address,omitempty"`
	Port    uint32        `json:"port,omitempty"`
	Tags    resource.Tags `json:"tags,omitempty"`
}

// InboundRule is one match of an inbound's rules with its conf.
type InboundRule struct {
	Match conf.Match `json:"match"`
	*EffectiveConf
}

// SelectorRule is a rule of a rule view: the clients of an inbound, or the
// outbounds, that have certain tags, with their conf.
type SelectorRule struct {
	Selector partition.Selector `json:"selector"`
	*EffectiveConf
}

// Permission is a rule that is never merged: its policy and its conf.
type Permission struct {
	KRI    string
	Source string // file:line of the rule; with Options.Source
	Item   string // the policy's name and the rule's field, such as "shop/web rules[0]"
	Conf   resource.Conf
}

// MarshalJSON returns {"kri": ...} with the fields of the conf added.
func (p Permission) MarshalJSON() ([]byte, error) {
	return resource.MarshalInline(struct {
		KRI    string `json:"kri"`
		Source string `json:"source,omitempty"`
	}{p.KRI, p.Source}, p.Conf)
}

func (a *dataplaneAnswer) inbound(config *results.Config, i int) Inbound {
	c, in, kind := config.Inbounds[i], &a.dataplane.Inbounds[i], config.Kind
	place := fmt.Sprintf("%s of inbound %s of %s", kind.Name, find.InboundName(a.dataplane, i), a.dataplane.Name)
	options := a.options
	options.isHere = func(n *NoEffect) bool { return n.Inbound == i }
	return Inbound{InboundRef{Name: in.SectionName(), Address: in.Address, Port: in.Port, Tags: in.Tags}, a.rules(kind, c, place, options)}
}

// rules returns the rules of an inbound or a listener, as far as the answer has room.
func (a *dataplaneAnswer) rules(kind *resource.Kind, c *results.InboundConfig, place string, options Options) (of InboundRules) {
	if a.budget.Take(len(c.Rules), place) {
		of.Rules = lists.Map(c.Rules, func(r results.InboundRule) InboundRule {
			return InboundRule{r.Match, NewEffectiveConf(r.Effective, kind.Rules, options)}
		})
	}
	if a.budget.Take(len(c.Unmerged), place) {
		for _, r := range c.Unmerged {
			o := a.options.Origin(r.Origin, kind.Rules)
			of.Permissions = append(of.Permissions, Permission{o.KRI, o.Source, o.Item, r.Conf})
		}
	}
	if c.From != nil {
		view := func(limits partition.Limits) ([]results.SelectorRule, error) { return a.views.Within(limits, c.From) }
		of.From = a.selectorRules(view, c.From.Covering, kind.From, place, options)
	}
	return of
}
