package rbac

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// rules adds the policies of a config in the order of their names, which is the order in which
// Envoy compares them.
func (b *builder) rules(r dump.Object, when *access.Requests) {
	action := r.Text("action")
	if action == "LOG" {
		b.add("", true, when)
		return
	}
	allow := action != "DENY"
	if action != "" && action != "ALLOW" && action != "DENY" || r.Beside("action", "policies", "audit_logging_options") != "" {
		b.unread(when, fmt.Sprintf("an action or a field of the rules of filter %s, which is not known,", b.filter))
	}
	policies := r.Object("policies")
	for _, name := range policies.Names() {
		b.policy = name
		holds := b.policyOf(dump.Object(policies).Object(name))
		b.add(name, allow, when, holds)
	}
	b.policy = ""
	b.add("", !allow, when)
}

// policyOf returns the requests that a policy matches. On rules there is no insufficient data.
func (b *builder) policyOf(p dump.Object) *access.Requests {
	sets := []*access.Requests{b.any(p.List("permissions"), b.permission), b.any(p.List("principals"), b.principal)}
	for _, field := range []string{"condition", "checked_condition"} {
		if p.Has(field) {
			sets = append(sets, b.undetermined("the CEL condition", p.Object(field)))
		}
	}
	if field := p.Beside("permissions", "principals", "condition", "checked_condition", "cel_config"); field != "" {
		sets = append(sets, access.Undetermined("the field "+field+" of policy "+b.policy))
	}
	return access.And(sets...)
}

func (b *builder) any(list []dump.Object, of func(dump.Object) *access.Requests) *access.Requests {
	return access.Or(lists.Map(list, of)...)
}

// maxDepth is the maximum depth of conditions in each other.
const maxDepth = 64

// condition returns the requests that meet a condition. Its words are in the names of the fields: rule of a
// permission, and id of a principal. Whole is called for a condition in another one, and own for the
// forms that only one of the two has. A condition that is too deep is not determined.
func (b *builder) condition(o dump.Object, what, word string, whole, own func(dump.Object) *access.Requests) *access.Requests {
	if b.depth++; b.depth > maxDepth {
		b.depth--
		return b.undetermined("a condition deeper than 64", o)
	}
	defer func() { b.depth-- }()
	list := word + "s"
	switch {
	case len(o.Names()) != 1:
		return b.undetermined(what, o)
	case o.Has("any"):
		return boolean(o.Bool("any"))
	case o.Has("and_" + list):
		return access.And(lists.Map(o.Object("and_"+list).List(list), whole)...)
	case o.Has("or_" + list):
		return b.any(o.Object("or_"+list).List(list), whole)
	case o.Has("not_" + word):
		return access.Not(whole(o.Object("not_" + word)))
	case o.Has("header"):
		return b.header(o.Object("header"))
	case o.Has("url_path"):
		return b.urlPath(o.Object("url_path"))
	}
	return own(o)
}

func (b *builder) permission(o dump.Object) *access.Requests {
	return b.condition(o, "a permission", "rule", b.permission, func(o dump.Object) *access.Requests {
		switch {
		case b.connection.Port == 0 && (o.Has("destination_port") || o.Has("destination_port_range")):
			return b.undetermined("the port of the destination", o)
		case o.Has("destination_port"):
			return boolean(uint32(o.Number("destination_port")) == b.connection.Port)
		case o.Has("destination_port_range"):
			r := o.Object("destination_port_range")
			return boolean(r.Number("start") <= int64(b.connection.Port) && int64(b.connection.Port) < r.Number("end"))
		case o.Has("requested_server_name"):
			return b.serverName(o.Object("requested_server_name"))
		}
		return b.undetermined("a permission", o)
	})
}

func (b *builder) principal(o dump.Object) *access.Requests {
	return b.condition(o, "a principal", "id", b.principal, func(o dump.Object) *access.Requests {
		switch {
		case o.Has("authenticated"):
			return b.authenticated(o.Object("authenticated"))
		case o.Has("filter_state"):
			return b.filterState(o.Object("filter_state"))
		case o.Has("direct_remote_ip"):
			return b.address(o, false, o.Object("direct_remote_ip"))
		case o.Has("source_ip"):
			return b.address(o, false, o.Object("source_ip"))
		case o.Has("remote_ip"):
			return b.address(o, true, o.Object("remote_ip"))
		}
		return b.undetermined("a principal", o)
	})
}

// authenticated is about any URI and any DNS name of the certificate, and about its subject, which
// is empty.
func (b *builder) authenticated(o dump.Object) *access.Requests {
	switch {
	case o.Beside("principal_name") != "":
		return b.undetermined("a principal", o)
	case !b.connection.TLS:
		return access.Or()
	case !o.Has("principal_name"):
		return access.And()
	}
	p, err := patternOf(o.Object("principal_name"))
	if err != nil {
		return b.undetermined(err.Error(), o)
	}
	b.expression(o.Object("principal_name"))
	if p.holds("") || b.connection.DNSName != "" && p.holds(b.connection.DNSName) {
		return access.And()
	}
	return b.uri(p)
}

func (b *builder) expression(matcher dump.Object) {
	if r := matcher.Object("safe_regex"); r != nil {
		b.Expressions = append(b.Expressions, Expression{b.filter, b.policy, r.Text("regex")})
	}
}

func boolean(all bool) *access.Requests {
	if all {
		return access.And()
	}
	return access.Or()
}
