package naive

import "strings"

// Request is the request of one client to an inbound. An empty field is absent.
type Request struct {
	SpiffeID string
	SNI      string
	Method   string
	Path     string // in the client's form, with or without a query
	Headers  []HeaderLine
	Tags     map[string]string // of the client, for `from`
}

// HeaderLine is a header line of a request. The name may be in any letter case.
type HeaderLine struct{ Name, Value string }

// condition is an entry of a permission list in its JSON form (SPEC 7.2).
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

// needsHTTP reports whether the condition has a part that a TCP inbound cannot evaluate
// (SPEC 7.5).
func (c *condition) needsHTTP() bool {
	return c.Path != nil || c.Method != nil || len(c.Headers) > 0
}

// connectionPart returns the part that a TCP inbound can evaluate.
func (c *condition) connectionPart() condition {
	return condition{SpiffeID: c.SpiffeID, SNI: c.SNI}
}

// scope is how an entry compares headers (SPEC 7.2).
type scope int

const (
	whole  scope = iota // the whole value
	runs                // or any run of its elements
	denial              // or, by regular expressions, any value with a byte outside ASCII
)

// holds reports whether all given parts hold.
func (c *condition) holds(r *Request, s scope) bool {
	if c.SpiffeID != nil && !spiffeIDHolds(c.SpiffeID, r.SpiffeID) {
		return false
	}
	if c.SNI != nil && (r.SNI == "" || lowerASCII(*c.SNI) != lowerASCII(r.SNI)) {
		return false
	}
	if c.Path != nil && !pathHolds(c.Path, r.Path) {
		return false
	}
	if c.Method != nil && *c.Method != r.Method {
		return false
	}
	for _, h := range c.Headers {
		if !headerHolds(&h, r.Headers, s) {
			return false
		}
	}
	return true
}

// lowerASCII folds a server name.
func lowerASCII(name string) string {
	out := []byte(name)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c - 'A' + 'a'
		}
	}
	return string(out)
}

func spiffeIDHolds(want *typedValue, id string) bool {
	switch {
	case id == "":
		return false
	case want.Type == "Exact":
		return id == want.Value
	case want.Type == "text":
		return strings.HasPrefix(id, want.Value)
	}
	return below(want.Value, id)
}

func pathHolds(want *typedValue, path string) bool {
	if path == "" {
		return false
	}
	path, _ = normalPath(path)
	switch want.Type {
	case "Exact":
		return path == want.Value
	case "Prefix":
		return below(want.Value, path)
	}
	return wholly(want.Value, path)
}

// below reports whether a prefix matches by segment. A slash at the end of the prefix is
// ignored.
func below(prefix, path string) bool {
	prefix = strings.TrimSuffix(prefix, "/")
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func headerHolds(want *header, lines []HeaderLine, s scope) bool {
	value, present := headerValue(want.Name, lines)
	if !present || want.Type == "Absent" {
		return !present && want.Type == "Absent"
	}
	holds, isHost := textHolds, strings.EqualFold(want.Name, "host")
	if isHost {
		holds = hostHolds
	}
	if holds(want, value) {
		return true
	}
	if s == whole {
		return false
	}
	if s == denial && (isHost || want.Type == "RegularExpression") && strings.ContainsFunc(value, func(r rune) bool { return r >= 0x80 }) {
		return true
	}
	elements := strings.Split(value, ",")
	for begin := range elements {
		for end := begin + 1; end <= len(elements); end++ {
			if holds(want, trimmed(strings.Join(elements[begin:end], ","))) {
				return true
			}
		}
	}
	return false
}

// headerValue returns the value of a header: its lines are trimmed and joined by commas,
// or by semicolons for cookie.
func headerValue(name string, lines []HeaderLine) (value string, present bool) {
	var values []string
	for _, line := range lines { // the proxy removes the headers that Connection names
		if strings.EqualFold(line.Name, "connection") {
			for word := range strings.SplitSeq(line.Value, ",") {
				if strings.EqualFold(trimmed(word), name) && !strings.Contains(" close keep-alive upgrade http2-settings ", " "+strings.ToLower(name)+" ") {
					return "", false
				}
			}
		}
	}
	for _, line := range lines {
		if strings.EqualFold(line.Name, name) {
			values = append(values, trimmed(line.Value))
		}
	}
	if strings.EqualFold(name, "cookie") {
		return strings.Join(values, "; "), len(values) > 0
	}
	return strings.Join(values, ","), len(values) > 0
}

func trimmed(value string) string { return strings.Trim(value, " \t") }

func textHolds(want *header, value string) bool {
	switch want.Type {
	case "Present":
		return true
	case "Prefix":
		return strings.HasPrefix(value, want.Value)
	case "RegularExpression":
		return wholly(want.Value, value)
	}
	return value == want.Value
}

// hostHolds compares a host in any letter case, with and without its final dot, and
// with and without its port. A final dot of the condition has no meaning.
func hostHolds(want *header, authority string) bool {
	authority = lowerASCII(authority)
	host, port := authority, ""
	if at := strings.LastIndex(authority, ":"); at >= 0 && strings.Trim(authority[at+1:], "0123456789") == "" {
		host, port = authority[:at], authority[at:]
	}
	for _, form := range []string{host + port, host, strings.TrimSuffix(host, ".") + port, strings.TrimSuffix(host, ".")} {
		switch value := lowerASCII(want.Value); want.Type {
		case "RegularExpression":
			if wholly("(?i:"+want.Value+")", form) {
				return true
			}
		case "Present", "Prefix":
			if strings.HasPrefix(form, value) {
				return true
			}
		default:
			if form == strings.Replace(strings.TrimSuffix(value, "."), ".:", ":", 1) {
				return true
			}
		}
	}
	return false
}
