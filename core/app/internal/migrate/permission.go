package migrate

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// client is the dataplanes of one SPIFFE ID.
type client struct {
	id, domain string
	tags       []resource.Tags // that its requests can have
}

// clients returns the clients of a mesh, sorted; ok is false if a dataplane has no SPIFFE
// ID, so that a permission for it cannot be written as a rule.
func (r *rewriter) clients(mesh string) (clients []*client, ok bool) {
	byID := map[string]*client{}
	ok = true
	for _, d := range r.view.Dataplanes(mesh) {
		id, err := r.view.Identities(mesh).IdentityOf(d)
		if err != nil || id == nil {
			ok = false
			continue
		}
		c := byID[id.SPIFFEID]
		if c == nil {
			c = &client{id: id.SPIFFEID, domain: id.TrustDomain}
			byID[id.SPIFFEID], clients = c, append(clients, c)
		}
		if d.Gateway != nil {
			c.tags = append(c.tags, d.Gateway.Tags)
		}
		for i := range d.Inbounds {
			c.tags = append(c.tags, d.Inbounds[i].Tags)
		}
	}
	slices.SortFunc(clients, func(a, b *client) int { return strings.Compare(a.id, b.id) })
	return clients, ok
}

// permissionRules returns rules that decide as the `from` items do. It returns nil if
// an item splits the dataplanes of one ID, or depends on more than the ID.
func (r *rewriter) permissionRules(p *resource.Policy) []any {
	clients, ok := r.clients(p.Mesh)
	if !ok || len(clients) == 0 {
		return nil
	}
	raw := list(r.document(&p.Meta).spec(), "from")
	if len(raw) != len(p.From) {
		return nil
	}
	conf := tree{}
	everyone := "" // the action for clients that no item names
	for i := range p.From {
		action := text(raw[i], "default", "action")
		if action != "" && p.From[i].TargetRef.Kind == resource.TargetMesh {
			everyone = action
		}
	}
	var domains []string
	for _, c := range clients {
		if !slices.Contains(domains, c.domain) {
			domains = append(domains, c.domain)
		}
		action, same := actionOf(p, raw, c)
		if !same {
			return nil
		}
		if action != everyone || action == "" {
			add(conf, action, tree{"type": "Exact", "value": c.id})
		}
	}
	if everyone != "" && everyone != "Deny" {
		slices.Sort(domains)
		for _, domain := range domains {
			add(conf, everyone, tree{"type": "Prefix", "value": "spiffe://" + domain})
		}
	}
	if len(conf) == 0 {
		conf["allow"] = []any{}
	}
	return []any{tree{"default": conf}}
}

// add adds an entry to the list of an action in a conf; no action adds none.
func add(conf tree, action string, id tree) {
	if name := map[string]string{"Allow": "allow", "Deny": "deny", "AllowWithShadowDeny": "allowWithShadowDeny"}[action]; name != "" {
		conf[name] = append(list(conf, name), tree{"spiffeID": id})
	}
}

// actionOf returns the action of the last item that selects a client; same is false if the
// dataplanes of the client differ.
func actionOf(p *resource.Policy, raw []any, c *client) (action string, same bool) {
	for k, tags := range c.tags {
		of := ""
		for i := range p.From {
			written := text(raw[i], "default", "action")
			if written != "" && selectsClient(&p.From[i].TargetRef, tags) {
				of = written
			}
		}
		if k > 0 && of != action {
			return "", false
		}
		action = of
	}
	return action, true
}

// selectsClient reports whether a targetRef of `from` selects a client with some tags.
func selectsClient(t *resource.TargetRef, tags resource.Tags) bool {
	for _, tag := range t.Selector() {
		value, has := tags.Get(tag.Key)
		if !has || tag.Value != resource.AnyValue && tag.Value != value {
			return false
		}
	}
	return true
}
