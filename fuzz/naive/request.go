package naive

import (
	"regexp"
	"strings"
)

// Request is what one client asks of an inbound. What is empty is not there.
type Request struct {
	SpiffeID string
	SNI      string
	Method   string
	Path     string            // with or without a query
	Headers  map[string]string // names in any letter case
	Tags     map[string]string // of the client, for `from`
}

// condition is an entry of a permission list (SPEC 7.2), as JSON has it.
type condition struct {
	SpiffeID *typedValue `json:"spiffeId"`
	SNI      *string     `json:"sni"`
	Path     *typedValue `json:"path"`
	Method   *string     `json:"method"`
	Headers  []header    `json:"headers"`
}

type typedValue struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

type header struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// needsHTTP reports whether a TCP inbound can not see all of it (SPEC 7.5).
func (c *condition) needsHTTP() bool {
	return c.Path != nil || c.Method != nil || len(c.Headers) > 0
}

// connectionPart is what a TCP inbound can see of it.
func (c *condition) connectionPart() condition {
	return condition{SpiffeID: c.SpiffeID, SNI: c.SNI}
}

// holds: all that are given must hold.
func (c *condition) holds(r *Request) bool {
	if c.SpiffeID != nil && !spiffeIDHolds(c.SpiffeID, r.SpiffeID) {
		return false
	}
	if c.SNI != nil && (r.SNI == "" || !strings.EqualFold(*c.SNI, r.SNI)) {
		return false
	}
	if c.Path != nil && !pathHolds(c.Path, r.Path) {
		return false
	}
	if c.Method != nil && *c.Method != r.Method {
		return false
	}
	for _, h := range c.Headers {
		if !headerHolds(&h, r.Headers) {
			return false
		}
	}
	return true
}

func spiffeIDHolds(want *typedValue, id string) bool {
	switch {
	case id == "":
		return false
	case want.Type == "Exact":
		return id == want.Value
	}
	return below(want.Value, id)
}

func pathHolds(want *typedValue, path string) bool {
	if path == "" {
		return false
	}
	path, _, _ = strings.Cut(path, "?")
	switch want.Type {
	case "Exact":
		return path == want.Value
	case "Prefix":
		return below(want.Value, path)
	}
	return wholly(want.Value, path)
}

// below: a prefix ends where a segment does, with or without a last slash.
func below(prefix, path string) bool {
	prefix = strings.TrimSuffix(prefix, "/")
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func headerHolds(want *header, headers map[string]string) bool {
	value, present := "", false
	for name, v := range headers {
		if strings.EqualFold(name, want.Name) {
			value, present = v, true
		}
	}
	switch want.Type {
	case "Absent":
		return !present
	case "Present":
		return present
	case "Prefix":
		return present && strings.HasPrefix(value, want.Value)
	case "RegularExpression":
		return present && wholly(want.Value, value)
	}
	return present && value == want.Value
}

// wholly reports whether a regular expression describes all of a text.
func wholly(expression, text string) bool {
	return regexp.MustCompile(`^(?:` + expression + `)$`).MatchString(text)
}
