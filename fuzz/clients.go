package fuzz

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// clients checks every rule view of `from` by its meaning: each client that
// could exist gets what SPEC 5.1 says, by exactly one selector of the disjoint
// form or by the first that matches of the ordered one.
func (c *comparison) clients(answer map[string]any, ordered bool) error {
	for _, policy := range list(answer, "policies") {
		kind, _ := policy["kind"].(string)
		if section := c.kinds.Lookup(kind); section == nil || section.From == nil {
			continue
		}
		for i, inbound := range list(policy, "inbounds") {
			if i >= len(c.dp.Inbounds) || c.hidden(i) {
				continue
			}
			view := &ruleView{rules: list(inbound, "from"), ordered: ordered}
			if err := c.inboundClients(kind, i, view); err != nil {
				return fmt.Errorf("%s, inbound %d, from (ordered: %v): %w", kind, i, ordered, err)
			}
		}
	}
	return nil
}

// hidden reports whether an inbound before this one has its name, so that
// nobody can ask for it.
func (c *comparison) hidden(i int) bool {
	for j := range i {
		if c.inboundName(j) == c.inboundName(i) {
			return true
		}
	}
	return false
}

func (c *comparison) inboundName(i int) string {
	in := &c.dp.Inbounds[i]
	if in.Name != "" {
		return in.Name
	}
	return fmt.Sprint(in.Port)
}

func (c *comparison) inboundClients(kind string, inbound int, view *ruleView) error {
	opt := c.opt
	opt.Kind = kind
	reference, err := naive.ClientsOf(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.inboundName(inbound), opt)
	if err != nil {
		return err
	}
	distinct := map[string]bool{}
	for _, tags := range possibleClients(reference.Asked()) {
		if items := reference.Items(tags); len(items) > 0 {
			distinct[fmt.Sprint(items)] = true
		}
		want, err := asTree(reference.C(tags))
		if err != nil {
			return err
		}
		got, err := view.conf(tags)
		if err != nil {
			return fmt.Errorf("client %v: %w", tags, err)
		}
		dropEmptyFields(want)
		dropEmptyFields(got)
		if diff := difference(want, got); diff != "" {
			return fmt.Errorf("client %v (-reference +subject):\n%s", tags, diff)
		}
	}
	// SPEC 5.4: at most one rule for each set of items that a client satisfies.
	if view.ordered && len(view.rules) > len(distinct) {
		return fmt.Errorf("there are %d rules for %d distinct sets of items", len(view.rules), len(distinct))
	}
	return nil
}

// possibleClients returns one client of every sort that the keys and values
// can tell apart: per key each value, another value, and absent (SPEC 5.3).
func possibleClients(asked map[string][]string) []map[string]string {
	clients := []map[string]string{{}}
	for _, key := range slices.Sorted(maps.Keys(asked)) {
		var next []map[string]string
		for _, client := range clients {
			next = append(next, client)
			for _, value := range append(slices.Clone(asked[key]), "another") {
				with := maps.Clone(client)
				with[key] = value
				next = append(next, with)
			}
		}
		clients = next
	}
	return clients
}
