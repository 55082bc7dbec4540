package rbac

import "github.com/meshmatch/meshmatch/core/internal/access"

// The types of conditions on a part of a request. A Present one has no value.
const (
	Exact             = "Exact"
	StringPrefix      = "StringPrefix"
	Suffix            = "Suffix"
	Contains          = "Contains"
	RegularExpression = "RegularExpression"
	Present           = "Present"
)

// Comparison is a condition on a part of a request, as a filter writes it.
type Comparison struct {
	Part string // spiffeId, tag, sni, method, path or header
	Name string // of a tag or header, in lower case; the path with the query is the header :path
	Type string
	// Value is the text; an expression matches as a whole.
	Value string
	holds func(string) bool
}

// Holds reports whether a text of the part meets the condition.
func (p *Comparison) Holds(text string) bool {
	return p.Type == Present || p.holds != nil && p.holds(text)
}

// about returns the condition of a pattern on a part.
func (p pattern) about(s access.Subject) Comparison {
	part, name := s.Name()
	if part == "path" { // url_path alone has no query
		part, name = "header", ":path"
	}
	return Comparison{part, name, p.kind, p.text, p.holds}
}
