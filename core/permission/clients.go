package permission

import (
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Clients are the `from` items of an inbound. All items that select a client are
// merged, and the merged conf has the client's action (SPEC 5.1). The conf has
// no other field, so one item decides: the item of the highest priority that
// selects the client and sets an action. No rule view is needed, so its limit
// does not apply.
type Clients struct {
	items  []Client // highest priority first
	shadow bool
}

// Client is a `from` item that sets an action.
type Client struct {
	Place
	Tags   resource.Tags // the tags that a client must have; a value may be [resource.AnyValue]
	Action meshtrafficpermission.Action
}

// NewClients returns the items of policies. The policies must be in order;
// later policies override.
func NewClients(policies []*resource.Policy) *Clients {
	c := &Clients{}
	for i := len(policies) - 1; i >= 0; i-- {
		kri := policies[i].KRI()
		for j := len(policies[i].From) - 1; j >= 0; j-- {
			item := &policies[i].From[j]
			action := item.Conf.(*meshtrafficpermission.Conf).Action
			tags, possible := clientTags(item.TargetRef.Selector())
			if action == nil || !possible {
				continue
			}
			c.items = append(c.items, Client{Place{Policy: policies[i], KRI: kri, List: From, Index: j}, tags, *action})
			c.shadow = c.shadow || *action == meshtrafficpermission.AllowWithShadowDeny
		}
	}
	return c
}

// clientTags returns each key of a sorted selector once. If the selector
// requires two values of a key, no client has them, and possible is false (SPEC
// 5.2).
func clientTags(selector resource.Tags) (tags resource.Tags, possible bool) {
	for _, tag := range selector {
		last := len(tags) - 1
		switch {
		case last < 0 || tags[last].Key != tag.Key:
			tags = append(tags, tag)
		case tags[last].Value == resource.AnyValue:
			tags[last].Value = tag.Value
		case tag.Value != resource.AnyValue && tag.Value != tags[last].Value:
			return nil, false
		}
	}
	return tags, true
}

// Items returns the items, the highest priority first. The first item that
// selects a client decides; if no item does, the client is denied. The caller
// must not change the slice.
func (c *Clients) Items() []Client { return c.items }

// HasShadow reports whether there is a shadow decision: some item has the
// action AllowWithShadowDeny.
func (c *Clients) HasShadow() bool { return c.shadow }

// Decide returns the answer to a client with the given tags.
func (c *Clients) Decide(tags resource.Tags) Answer {
	a := Answer{HasShadow: c.shadow}
	for i := range c.items {
		item := &c.items[i]
		if !tags.Contains(item.Tags) {
			continue
		}
		a.Decision = Decision{item.Action != meshtrafficpermission.Deny, &item.Place}
		a.Shadow = Decision{item.Action == meshtrafficpermission.Allow, &item.Place}
		break
	}
	if !c.shadow {
		a.Shadow = Decision{}
	}
	return a
}
