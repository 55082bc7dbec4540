package rbac

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
)

// condition is a predicate of a matcher: the requests for which it holds, and those for which
// Envoy lacks the data to compare it. Nil stops are none.
type condition struct{ holds, stops *access.Requests }

// matcher adds the actions of a matcher for the requests of a set, in the order in which Envoy
// compares: a nested matcher without a match goes on with what follows. Where data is missing,
// Envoy stops and denies.
func (b *builder) matcher(m dump.Object, when *access.Requests) {
	if b.depth++; b.depth > maxDepth || m.Beside("matcher_list", "matcher_tree", "on_no_match") != "" {
		b.unread(when, "a part of a matcher of filter "+b.filter+", which is not known,")
	} else {
		for _, item := range m.Object("matcher_list").List("matchers") {
			c := b.predicate(item.Object("predicate"))
			b.stop(c.stops, when)
			b.onMatch(item.Object("on_match"), access.And(when, c.holds))
		}
		if tree := m.Object("matcher_tree"); tree != nil {
			b.tree(tree, when)
		}
		if m.Has("on_no_match") {
			b.onMatch(m.Object("on_no_match"), when)
		}
	}
	b.depth--
}

func (b *builder) stop(stops, when *access.Requests) {
	if stops != nil {
		b.add("", false, when, stops)
	}
}

// onMatch adds an action, or the actions of a nested matcher. One that keeps matching decides
// nothing.
func (b *builder) onMatch(o dump.Object, when *access.Requests) {
	switch {
	case o.Bool("keep_matching"):
	case o.Has("matcher"):
		b.matcher(o.Object("matcher"), when)
	case o.Has("action"):
		kind, action := o.Object("action").Object("typed_config").Typed()
		decision := cmp.Or(action.Text("action"), "ALLOW")
		if kind != "envoy.config.rbac.v3.Action" || decision != "ALLOW" && decision != "DENY" && decision != "LOG" {
			b.unknown(when, "an action of type "+kind+" refuses the request")
			decision = "ALLOW"
		}
		b.add(action.Text("name"), decision != "DENY", when)
	}
}

// tree adds the entries of a map. The keys of prefixes are compared from the longest.
func (b *builder) tree(tree dump.Object, when *access.Requests) {
	exact, prefix := tree.Object("exact_match_map").Object("map"), tree.Object("prefix_match_map").Object("map")
	if tree.Beside("input", "exact_match_map", "prefix_match_map") != "" {
		b.unread(when, "a map of a matcher of filter "+b.filter+", which is not known,")
		return
	}
	keys, of := exact.Names(), func(key string) pattern { return pattern{how: isExact, value: key, kind: Exact, text: key} }
	if prefix != nil {
		keys, of = prefix.Names(), func(key string) pattern { return pattern{how: isPrefix, value: key, kind: StringPrefix, text: key} }
		slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
	for i, key := range keys {
		c := b.input(tree.Object("input"), of(key))
		if i == 0 {
			b.stop(c.stops, when)
		}
		on := exact.Object(key)
		if prefix != nil {
			on = prefix.Object(key)
		}
		b.onMatch(on, access.And(when, c.holds))
	}
}

func (b *builder) predicate(o dump.Object) condition {
	if b.depth++; b.depth > maxDepth || len(o.Names()) != 1 {
		b.depth--
		return condition{holds: b.undetermined("a predicate", o)}
	}
	defer func() { b.depth-- }()
	switch {
	case o.Has("single_predicate"):
		single := o.Object("single_predicate")
		if kind, ip := single.Object("custom_match").Object("typed_config").Typed(); kind == ipMatcher && inputType(single.Object("input")) == sourceInput && ip.Beside("cidr_ranges", "stat_prefix") == "" {
			return condition{holds: b.address(o, true, ip.List("cidr_ranges")...)}
		}
		if !single.Has("value_match") || single.Beside("input", "value_match") != "" {
			return condition{holds: b.undetermined("a predicate", o)}
		}
		p, err := patternOf(single.Object("value_match"))
		if err != nil {
			return condition{holds: b.undetermined(err.Error(), o)}
		}
		if strings.HasSuffix(inputType(single.Object("input")), ".UriSanInput") {
			b.expression(single.Object("value_match"))
		}
		return b.input(single.Object("input"), p)
	case o.Has("and_matcher"):
		out := condition{holds: access.And()}
		for _, sub := range o.Object("and_matcher").List("predicate") {
			c := b.predicate(sub)
			out.stops = orStops(out.stops, after(out.holds, c.stops))
			out.holds = access.And(out.holds, c.holds)
		}
		return out
	case o.Has("or_matcher"):
		var holds []*access.Requests
		out := condition{}
		for _, sub := range o.Object("or_matcher").List("predicate") {
			c := b.predicate(sub)
			holds, out.stops = append(holds, c.holds), orStops(out.stops, c.stops)
		}
		if out.holds = access.Or(holds...); out.stops != nil {
			out.stops = access.And(out.stops, access.Not(out.holds))
		}
		return out
	case o.Has("not_matcher"):
		c := b.predicate(o.Object("not_matcher"))
		out := condition{holds: access.Not(c.holds), stops: c.stops}
		if c.stops != nil {
			out.holds = access.And(out.holds, access.Not(c.stops))
		}
		return out
	}
	return condition{holds: b.undetermined("a predicate", o)}
}

func orStops(a, b *access.Requests) *access.Requests {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return access.Or(a, b)
}

// after returns the requests of stops that get as far as the condition that lacks data.
func after(holds, stops *access.Requests) *access.Requests {
	if stops == nil {
		return nil
	}
	return access.And(holds, stops)
}

func inputType(input dump.Object) string {
	kind, _ := input.Object("typed_config").Typed()
	return kind
}

// input returns the condition that an input of a matcher meets a pattern.
func (b *builder) input(input dump.Object, p pattern) condition {
	kind, config := input.Object("typed_config").Typed()
	switch kind {
	case "envoy.extensions.matching.common_inputs.ssl.v3.UriSanInput":
		if !b.connection.TLS {
			return condition{holds: access.Or(), stops: access.And()}
		}
		return condition{holds: b.joined(p)}
	case "envoy.extensions.matching.common_inputs.ssl.v3.DnsSanInput":
		if name := b.connection.DNSName; name != "" {
			return condition{holds: boolean(p.holds(name))}
		}
	case sourceInput:
		if at, known := b.knownAddress(true); known {
			return condition{holds: boolean(p.holds(at.String()))}
		}
	case "envoy.extensions.matching.common_inputs.network.v3.ServerNameInput":
		return condition{holds: p.requestsFor(access.ServerName)}
	case "envoy.type.matcher.v3.HttpRequestHeaderMatchInput":
		if b.http {
			return condition{holds: b.headerText(config.Text("header_name"), p)}
		}
	}
	return condition{holds: b.undetermined("the input "+kind+" meets "+p.String(), input)}
}
