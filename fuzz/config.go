package fuzz

import (
	"maps"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// confsOf returns the part of an answer of the reference about one kind that a config has,
// too: which policies select, and the confs with their origins.
func confsOf(policy map[string]any) map[string]any {
	tree := map[string]any{}
	matched := []any{}
	for _, m := range policy["matched"].([]any) {
		matched = append(matched, only(m, "name", "namespace", "kri"))
	}
	tree["matched"] = matched
	if c, has := policy["default"]; has {
		tree["default"] = only(c, confParts...)
	}
	outbounds, _ := policy["outbounds"].([]any)
	for _, outbound := range outbounds {
		part := only(outbound, confParts...)
		routes, _ := outbound.(map[string]any)["routes"].([]any)
		for _, route := range routes {
			part["routes"] = appended(part["routes"], only(route, append(confParts, "route")...))
		}
		tree["outbounds"] = appended(tree["outbounds"], part)
	}
	inbounds, _ := policy["inbounds"].([]any)
	for _, inbound := range inbounds {
		part := only(inbound, "permissions")
		rules, _ := inbound.(map[string]any)["rules"].([]any)
		for _, rule := range rules {
			part["rules"] = appended(part["rules"], only(rule, append(confParts, "match")...))
		}
		tree["inbounds"] = appended(tree["inbounds"], part)
	}
	return tree
}

// confParts are the parts of a conf in an answer (SPEC 10) that an [results.Effective] has,
// too. It has no collectors.
var confParts = []string{"conf", "origins", "fields"}

func only(object any, names ...string) map[string]any {
	part := map[string]any{}
	for _, name := range names {
		if value, has := object.(map[string]any)[name]; has {
			part[name] = value
		}
	}
	return part
}

func appended(list any, elem any) []any {
	elems, _ := list.([]any)
	return append(elems, elem)
}

// configTree returns what the engine has in place of [confsOf].
func configTree(config *results.Config, dp *resource.Dataplane) map[string]any {
	tree, matched := map[string]any{}, []any{}
	for _, selected := range config.Matched.All() {
		m := map[string]any{"name": selected.Policy.Name, "kri": selected.Policy.KRI()}
		if selected.Policy.Namespace != "" {
			m["namespace"] = selected.Policy.Namespace
		}
		matched = append(matched, m)
	}
	tree["matched"] = matched
	if config.Default != nil {
		tree["default"] = effectiveTree(config.Default)
	}
	for _, outbound := range config.Outbounds {
		part := effectiveTree(outbound.Effective)
		for _, route := range outbound.Routes {
			of := effectiveTree(route.Effective)
			of["route"] = route.Route.KRI()
			part["routes"] = appended(part["routes"], of)
		}
		tree["outbounds"] = appended(tree["outbounds"], part)
	}
	for i, inbound := range config.Inbounds {
		if dp.IsListener(i) {
			tree["inbounds"] = appended(tree["inbounds"], inboundTree(inbound))
		}
	}
	return tree
}

func inboundTree(inbound *results.InboundConfig) map[string]any {
	part := map[string]any{}
	if inbound == nil {
		return part
	}
	for _, rule := range inbound.Rules {
		of := effectiveTree(rule.Effective)
		of["match"] = rule.Match
		part["rules"] = appended(part["rules"], of)
	}
	for _, rule := range inbound.Unmerged {
		of := map[string]any{"kri": rule.Policy.KRI()}
		maps.Copy(of, asTree(rule.Conf).(map[string]any))
		part["permissions"] = appended(part["permissions"], of)
	}
	return part
}

// effectiveTree returns a conf with its origins in the form of SPEC 10.
func effectiveTree(e *results.Effective) map[string]any {
	if e == nil {
		return map[string]any{}
	}
	origins, fields := []any{}, map[string]any{}
	for _, origin := range e.Origins {
		origins = append(origins, originTree(origin.Policy, origin.Index))
	}
	for pointer, origin := range e.Fields() {
		fields[pointer] = originTree(origin.Policy, origin.Index)
	}
	return map[string]any{"conf": e.Conf, "origins": origins, "fields": fields}
}

func originTree(p *resource.Policy, index int) map[string]any {
	return map[string]any{"kri": p.KRI(), "index": index}
}
