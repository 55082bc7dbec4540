package rbac

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// scope returns the requests of an override. Earlier overrides decide first.
func (b *builder) scope(o *dump.Override) *access.Requests {
	var sets []*access.Requests
	if o.Unknown {
		sets = append(sets, access.Undetermined("the request is for "+o.Where))
	}
	if o.Domain != "" {
		sets = append(sets, b.domain(o.Domain))
	}
	if o.Match != nil {
		sets = append(sets, b.route(o.Match))
	}
	return access.And(sets...)
}

// domain returns the requests to a domain of a virtual host, in any case of letters. A wildcard has
// at least one byte.
func (b *builder) domain(text string) *access.Requests {
	source := folded(strings.Trim(text, "*"))
	if strings.HasPrefix(text, "*") {
		source = `(?s:.+)` + source
	} else if strings.HasSuffix(text, "*") {
		source += `(?s:.+)`
	}
	p, err := expressionOf(source)
	if err != nil {
		return access.Undetermined("the request is for the domain " + text)
	}
	return b.headerText("host", p)
}

// route returns the requests that a route matches.
func (b *builder) route(m dump.Object) *access.Requests {
	path := map[string]any{}
	sensitive := !m.Has("case_sensitive") || m.Bool("case_sensitive")
	switch {
	case m.Has("prefix"):
		path["prefix"] = m.Text("prefix")
	case m.Has("path"):
		path["exact"] = m.Text("path")
	case m.Has("path_separated_prefix"):
		prefix := m.Text("path_separated_prefix")
		path["safe_regex"] = map[string]any{"regex": quoted(prefix, !sensitive) + `(?:/(?s:.*))?`}
	case m.Has("safe_regex"):
		path["safe_regex"] = map[string]any(m.Object("safe_regex"))
	default:
		return b.undetermined("the match of a route", m)
	}
	if _, isRegex := path["safe_regex"]; !isRegex {
		path["ignore_case"] = !sensitive
	}
	sets := lists.Map(m.List("headers"), b.header)
	if m.Text("prefix") != "/" { // each path begins with it
		sets = append(sets, b.urlPath(dump.Object{"path": path}))
	}
	if m.Beside("prefix", "path", "path_separated_prefix", "safe_regex", "case_sensitive", "headers") != "" {
		sets = append(sets, b.undetermined("the match of a route", m))
	}
	return access.And(sets...)
}
