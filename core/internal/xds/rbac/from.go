package rbac

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// clientMatcher writes the matcher of one decision about clients by their tags. The items
// are compared from the highest priority down, and the first one that selects the client
// decides (SPEC 5.1).
func clientMatcher(out *writer, items []permission.Client, form Form, d decision) {
	w, t := &matcherWriter{writer: out, inputs: map[input][]byte{}}, newTranslation(MatcherForm)
	last := d.byDefault()
	var branches []branch
	if form == CharacterMatcherForm && slices.ContainsFunc(items, asksForAnyValue) {
		branches = append(branches, branch{when: notASCII(input{kind: clientURI}), do: last})
	}
	for i := range items {
		item := &items[i]
		do := action{policy: item.KRI, deny: !d.clientAllowed(item.Action)}
		if len(item.Tags) == 0 { // every client; no later item decides
			last = do
			break
		}
		branches = append(branches, branch{when: t.conditions(Conditions{Tags: item.Tags}), do: do})
	}
	w.firstOf(branches, &last)
}

// clientRules writes the rules form of the same decision. The principals of its policies
// are an OR, so each policy must exclude the clients that an item of higher priority
// denies. Otherwise "Mesh Allow; a Deny; b Deny" would become "not a, or not b", which is
// every client (SPEC 5.7).
func clientRules(w *writer, items []permission.Client, d decision) {
	hit := d.clientAllowed // selects the items that the policies express
	if d == shadow {
		hit = func(a meshtrafficpermission.Action) bool { return !d.clientAllowed(a) }
	}
	var groups []clientGroup
	exclusions, denied := 0, 0
	for i := range items {
		item := &items[i]
		h, last := hit(item.Action), len(groups)-1
		if last < 0 || groups[last].hit != h || h && groups[last].kri != item.KRI {
			groups = append(groups, clientGroup{kri: item.KRI, hit: h})
			last++
		}
		groups[last].clients = append(groups[last].clients, tagsCondition(item.Tags))
		if h {
			exclusions += denied
		} else {
			denied++
		}
		if len(item.Tags) == 0 {
			break // every client; no later item decides
		}
	}
	p := policies{}
	if exclusions > maxExclusions {
		if c := firstHits(groups).hits; c != nil {
			p.add(allPolicies, anyPermission, c)
		}
	} else {
		var excluded []*condition
		for _, g := range groups {
			switch {
			case !g.hit:
				excluded = append(excluded, g.clients...)
			default:
				p.add(g.kri, anyPermission, excluding(anyOf(g.clients...), excluded))
			}
		}
	}
	p.write(w, d)
}

// clientGroup is a run of consecutive items that all hit or all miss.
type clientGroup struct {
	kri     string
	hit     bool
	clients []*condition
}

// groupConditions are the conditions of a range of the groups.
type groupConditions struct {
	any  *condition // one of the items selects the client
	hits *condition // the first item that selects it is a hit; nil: never
}

// firstHits returns the condition that a hit is the first item to select the client. It is
// built in halves: n groups take n log n comparisons and nest log n deep. To exclude from
// each hit everything above it would take n².
func firstHits(groups []clientGroup) groupConditions {
	switch len(groups) {
	case 0:
		return groupConditions{}
	case 1:
		c := groupConditions{any: anyOf(groups[0].clients...)}
		if groups[0].hit {
			c.hits = c.any
		}
		return c
	}
	upper, lower := firstHits(groups[:len(groups)/2]), firstHits(groups[len(groups)/2:])
	c := groupConditions{anyOf(upper.any, lower.any), upper.hits}
	if lower.hits != nil {
		c.hits = allOf(negation(upper.any), lower.hits)
		if upper.hits != nil {
			c.hits = anyOf(upper.hits, c.hits)
		}
	}
	return c
}

// asksForAnyValue reports whether an item selects clients by a tag with any value. Where characters
// are compared, no expression matches exactly these values: a byte that is no part of a character
// matches \C alone, and so does a slash. Such a byte must not evade a denial. So a client with a
// byte outside ASCII in a URI SAN is denied there before the items (SPEC 18.3).
func asksForAnyValue(item permission.Client) bool {
	return slices.ContainsFunc(item.Tags, func(tag resource.Tag) bool { return tag.Value == resource.AnyValue })
}

func tagsCondition(tags resource.Tags) *condition {
	if len(tags) == 0 {
		return &condition{op: opAlways}
	}
	var out []*condition
	for _, tag := range tags {
		if tag.Value == resource.AnyValue {
			out = append(out, comparison(input{kind: clientURI}, textRegex, tagRegex(tag)))
		} else {
			out = append(out, comparison(input{kind: clientURI}, textExact, request.TagURI+tag.Key+"/"+tag.Value))
		}
	}
	return allOf(out...)
}
