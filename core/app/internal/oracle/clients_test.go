package oracle

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// compareClients checks the meaning of every rule view of `from`: each client that could
// exist gets the conf of SPEC 5.1, by exactly one rule of the disjoint form or by the
// first matching rule of the ordered form. The conf that is computed for the client
// alone, without a view, must be the same.
func (c *comparison) compareClients(answer map[string]any, ordered bool) error {
	for _, policy := range list(answer, "policies") {
		kind, _ := policy["kind"].(string)
		if section := c.kinds.Lookup(kind); section == nil || section.From == nil {
			continue
		}
		for n, inbound := range list(policy, "inbounds") {
			i := c.listener(n)
			if i < 0 || c.hidden(i) {
				continue
			}
			view := &ruleView{rules: list(inbound, "from"), ordered: ordered}
			if err := c.compareInbound(kind, i, view); err != nil {
				return fmt.Errorf("%s, inbound %d, from (ordered: %v): %w", kind, i, ordered, err)
			}
		}
		if c.dp.Gateway != nil { // `from` does not apply to the listeners of gateways
			continue
		}
		for i, listener := range list(policy, "listeners") {
			reference, err := naive.FromOfListener(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, i, c.ofKind(kind))
			if err != nil {
				return fmt.Errorf("the reference fails: %w", err)
			}
			if err := (&ruleView{rules: list(listener, "from"), ordered: ordered}).check(reference); err != nil {
				return fmt.Errorf("%s, listener %d, from (ordered: %v): %w", kind, i, ordered, err)
			}
		}
	}
	return nil
}

func (c *comparison) compareInbound(kind string, inbound int, view *ruleView) error {
	reference, err := naive.FromOf(c.kinds, c.set, c.dp.Mesh, c.dp.Namespace, c.dp.Name, c.inboundName(inbound), c.ofKind(kind))
	if err != nil {
		return fmt.Errorf("the reference fails: %w", err)
	}
	if err := view.check(reference); err != nil || view.ordered {
		return err
	}
	for _, tags := range reference.Clients() {
		got := c.answers.Client(c.dp, inbound, tags, c.inspectOptions(kind, false))
		if err := sameConf(reference.C(tags), got); err != nil {
			return fmt.Errorf("client %v without a view: %w", tags, err)
		}
	}
	return nil
}

func (c *comparison) ofKind(kind string) naive.Options {
	opt := c.opt
	opt.Kind = kind
	return opt
}

func (c *comparison) inspectOptions(kind string, ordered bool) inspect.Options {
	read, _ := semantics.Parse(c.opt.Semantics) // empty: targetref
	return inspect.Options{Semantics: read, Kind: kind, Shadow: c.opt.Shadow, Explain: c.opt.Explain, Ordered: ordered}
}

// listener returns the inbound of element n of the inbounds of an answer: those that share the
// listener of another are not among them. It is negative for the listeners of zone proxies.
func (c *comparison) listener(n int) int {
	for i := range c.dp.Inbounds {
		if !c.dp.IsListener(i) {
			continue
		}
		if n == 0 {
			return i
		}
		n--
	}
	return -1
}

// hidden reports whether an earlier inbound of another listener has the same name, so that no
// query can name this one.
func (c *comparison) hidden(i int) bool {
	for j := range i {
		if c.inboundName(j) == c.inboundName(i) && c.dp.ListenerOf(j) != i {
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
