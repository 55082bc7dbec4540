package rules

import "github.com/meshmatch/meshmatch/core/resource"

// defaultConf returns the one conf of a kind without to, from and rules: the
// merge of the policies' defaults in order (SPEC 4.4). Policies that are
// attached to a route say nothing about the dataplane itself.
func defaultConf(kind *resource.Kind, policies []*resource.Policy) *Effective {
	var items []Contribution
	for _, p := range policies {
		if !p.TargetRef.Kind.IsRoute() {
			items = append(items, Contribution{Origin{p, 0}, p.Default})
		}
	}
	return Merge(kind.Default.Conf, items)
}
