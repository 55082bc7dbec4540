package dump

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Override is the config of a filter for some requests: those that a route gets, and no earlier
// override.
type Override struct {
	Where string // in words
	// Domain and Match are those of the virtual host and the route; "" and nil: any.
	Domain string
	Match  Object
	// Unknown reports that further conditions decide which of these requests it is for.
	Unknown  bool
	Base     bool // the filter has no other config there
	Disabled bool
	Type     string
	Config   Object
}

// maxOverrides is the maximum number of domains and routes among which the first that applies is
// found. Among more, it is unknown which applies.
const maxOverrides = 200

// upgradesOf returns the overrides of a filter by upgrades that have filters of their own: their
// requests do not come to it.
func upgradesOf(manager Object) []Override {
	var out []Override
	for _, u := range manager.List("upgrade_configs") {
		if u.Has("filters") {
			out = append(out, Override{Where: "the upgrade " + u.Text("upgrade_type") + ", which has filters of its own", Unknown: true, Disabled: true})
		}
	}
	return out
}

// overridesOf returns the configs that parts of a route configuration give to a filter, in the
// order in which Envoy finds routes. A narrower part has the config of the part around it, unless
// it has its own.
func overridesOf(filter string, route Object) []Override {
	if !names(route, filter) {
		return nil
	}
	var out []Override
	whole := configOf(filter, "route configuration "+route.Text("name"), route, Override{Base: true})
	for _, d := range domainsOf(route) {
		out = append(out, d.overrides(filter, whole)...)
	}
	if len(out) > maxOverrides {
		out = slices.DeleteFunc(out, func(o Override) bool { return o.Base })
		for i := range out {
			out[i].Domain, out[i].Match, out[i].Unknown = "", nil, true
		}
	}
	if !whole.Base {
		out = append(out, whole)
	}
	return out
}

// configOf returns the config of a part of a route configuration for a filter: its own, else that
// of the part around it.
func configOf(filter, where string, part Object, around Override) Override {
	config := objectOf(part.Object("typed_per_filter_config")[filter])
	if config == nil {
		return around
	}
	o := Override{Where: where}
	o.Type, o.Config = config.Typed()
	if o.Type == "envoy.config.route.v3.FilterConfig" {
		o.Disabled = o.Config.Bool("disabled")
		o.Type, o.Config = o.Config.Object("config").Typed()
	}
	return o
}

// domain is a domain of a virtual host.
type domain struct {
	text string
	host Object
}

// domainsOf returns the domains of a route configuration in the order in which Envoy compares
// them: whole names, those that begin with a wildcard, those that end in one, and all. The longer
// ones come first.
func domainsOf(route Object) []domain {
	var out []domain
	for _, host := range route.List("virtual_hosts") {
		texts := host.Texts("domains")
		if len(texts) == 0 {
			texts = []string{""} // Envoy refuses it
		}
		for _, text := range texts {
			out = append(out, domain{text, host})
		}
	}
	kind := func(d domain) int {
		switch {
		case d.text == "*" || d.text == "":
			return 3
		case strings.HasSuffix(d.text, "*"):
			return 2
		case strings.HasPrefix(d.text, "*"):
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b domain) int {
		return cmp.Or(cmp.Compare(kind(a), kind(b)), cmp.Compare(len(b.text), len(a.text)))
	})
	return out
}

// overrides returns the configs of a filter for the requests of a domain.
func (d *domain) overrides(filter string, whole Override) []Override {
	name := "virtual host " + d.host.Text("name")
	host := configOf(filter, name, d.host, whole)
	var out []Override
	add := func(o Override) {
		if o.Domain = d.text; o.Domain == "*" {
			o.Domain = ""
		}
		o.Unknown = o.Unknown || d.text == ""
		out = append(out, o)
	}
	if names(d.host.Object("matcher"), filter) {
		add(Override{Where: "a route that the matcher of " + name + " finds", Unknown: true})
	}
	routes := d.host.List("routes")
	if !slices.ContainsFunc(routes, func(r Object) bool { return names(r, filter) }) {
		routes = nil
	}
	for i, r := range routes {
		where := "route " + cmp.Or(r.Text("name"), strconv.Itoa(i)) + " of " + name
		for _, c := range r.Object("route").Object("weighted_clusters").List("clusters") {
			if o := configOf(filter, "the cluster "+c.Text("name")+" of "+where, c, Override{Base: true}); !o.Base {
				o.Match, o.Unknown = r.Object("match"), true
				add(o)
			}
		}
		o := configOf(filter, where, r, host)
		o.Match = r.Object("match")
		add(o)
	}
	if routes == nil {
		add(host)
	}
	return out
}

// names reports whether a message has a part with the name of a filter, such as a config for it.
func names(o Object, filter string) bool {
	text, _ := json.Marshal(o)      // it was JSON
	name, _ := json.Marshal(filter) // a text
	return bytes.Contains(text, append(name, ':'))
}
