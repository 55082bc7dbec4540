package permission

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// condition is what an entry asks beside the SPIFFE ID; all must hold.
type condition struct {
	sni     string // "": not asked
	method  string // "": not asked
	path    *text
	headers []headerCondition
}

type headerCondition struct {
	name   string // in lower case
	absent bool
	value  text
}

// newCondition returns nil where the entry asks for nothing but the SPIFFE ID.
func newCondition(m *conf.Match, known expressions) *condition {
	if m.SNI == nil && !needsHTTP(m) {
		return nil
	}
	c := &condition{}
	if m.SNI != nil {
		c.sni = string(*m.SNI)
	}
	if m.Method != nil {
		c.method = string(*m.Method)
	}
	if m.Path != nil {
		c.path = pathText(m.Path, known)
	}
	for i := range m.Headers {
		c.headers = append(c.headers, newHeaderCondition(&m.Headers[i], known))
	}
	return c
}

func pathText(p *conf.PathMatch, known expressions) *text {
	switch p.Type {
	case conf.PathRegex:
		return &text{how: wholly, regex: known.whole(p.Value)}
	case conf.PathPrefix:
		return &text{how: below, value: Segments(p.Value)}
	}
	return &text{how: exactly, value: p.Value}
}

func newHeaderCondition(h *conf.HeaderMatch, known expressions) headerCondition {
	c := headerCondition{name: strings.ToLower(string(h.Name))}
	switch h.How() {
	case conf.HeaderAbsent:
		c.absent = true
	case conf.HeaderPresent:
		c.value.how = anything
	case conf.HeaderPrefix:
		c.value = text{how: startsWith, value: *h.Value}
	case conf.HeaderRegex:
		c.value = text{how: wholly, regex: known.whole(*h.Value)}
	default:
		c.value = text{how: exactly, value: *h.Value}
	}
	return c
}

// holds reports whether the request meets the condition; nil is always met.
// Host names are equal in any letter case.
func (c *condition) holds(r *Request) bool {
	if c == nil {
		return true
	}
	if c.sni != "" && !strings.EqualFold(c.sni, r.SNI) || c.method != "" && c.method != r.Method {
		return false
	}
	if c.path != nil && (r.Path == "" || !c.path.holds(r.path())) {
		return false
	}
	for i := range c.headers {
		h := &c.headers[i]
		value, present := r.Headers.Get(h.name)
		if present == h.absent || present && !h.value.holds(value) {
			return false
		}
	}
	return true
}
