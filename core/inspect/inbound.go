package inspect

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Inbound is an inbound with what it does with requests.
type Inbound struct {
	Inbound     InboundRef   `json:"inbound"`
	From        []FromRule   `json:"from,omitempty"`
	Rules       []Rule       `json:"rules,omitempty"`       // first match first
	Permissions []Permission `json:"permissions,omitempty"` // policies in order, then rules
}

// InboundRef names an inbound; one without a name is called by its port.
type InboundRef struct {
	Name    string        `json:"name"`
	Address string        `json:"address,omitempty"`
	Port    uint32        `json:"port"`
	Tags    resource.Tags `json:"tags"`
}

// Rule is one match of an inbound's rules.
type Rule struct {
	Match conf.Match `json:"match"`
	*C
}

// FromRule is a rule of an inbound's clients, by their tags.
type FromRule struct {
	Selector partition.Selector `json:"selector"`
	*C
}

// Permission is a rule that is never merged: its policy, and beside it the
// fields of its conf.
type Permission struct {
	KRI  string
	Conf resource.Conf
}

// MarshalJSON prints {"kri": ..., and the conf's fields}.
func (p Permission) MarshalJSON() ([]byte, error) {
	return resource.MarshalInline(struct {
		KRI string `json:"kri"`
	}{p.KRI}, p.Conf)
}

func newInbound(config *rules.InboundConfig, i *resource.Inbound, options Options) (Inbound, error) {
	in := Inbound{Inbound: InboundRef{Name: i.SectionName(), Address: i.Address, Port: i.Port, Tags: i.Tags}}
	for _, r := range config.Rules {
		in.Rules = append(in.Rules, Rule{Match: r.Match, C: NewC(r.Effective, options.Explain)})
	}
	for _, r := range config.Unmerged {
		in.Permissions = append(in.Permissions, Permission{KRI: r.Policy.KRI(), Conf: r.Conf})
	}
	if config.From == nil {
		return in, nil
	}
	view := config.From.Disjoint
	if options.Ordered {
		view = config.From.Ordered
	}
	from, err := view(options.Limits)
	for _, r := range from {
		in.From = append(in.From, FromRule{Selector: r.Selector, C: NewC(r.Effective, options.Explain)})
	}
	return in, err
}
