package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// Fields are the fields of a record that a replay reads. The name of a field is Envoy's
// command operator in lower case, or the name of a header. The field is read from the key
// with this name, unless it is renamed.
type Fields struct {
	list []Field
	keys map[string]int // index in list, by key
	// headers contains the indexes of the headers that entries may compare, by name in
	// lower case.
	headers map[string]int
	asked   []string // the headers that entries may compare
	idle    []string // the renamed headers that no entry compares, sorted
}

// Field is a field of a record.
type Field struct {
	Name     string // such as downstream_local_address, path or x-team
	Key      string // in the JSON of a record
	Operator string // Envoy's command operator, such as %REQ(:PATH)%
}

// The fields that each record has, before the headers.
const (
	localAddress = iota
	peerURIs
	serverName
	method
	path
	authority
	responseDetails
	terminationDetails
	startTime
	firstHeader
)

// fixed contains the fields before the headers. The authority is the header host.
var fixed = [firstHeader]Field{
	localAddress:       {Name: "downstream_local_address", Operator: "%DOWNSTREAM_LOCAL_ADDRESS%"},
	peerURIs:           {Name: "downstream_peer_uri_san", Operator: "%DOWNSTREAM_PEER_URI_SAN%"},
	serverName:         {Name: "requested_server_name", Operator: "%REQUESTED_SERVER_NAME%"},
	method:             {Name: "method", Operator: "%REQ(:METHOD)%"},
	path:               {Name: "path", Operator: "%REQ(:PATH)%"},
	authority:          {Name: "authority", Operator: "%REQ(:AUTHORITY)%"},
	responseDetails:    {Name: "response_code_details", Operator: "%RESPONSE_CODE_DETAILS%"},
	terminationDetails: {Name: "connection_termination_details", Operator: "%CONNECTION_TERMINATION_DETAILS%"},
	startTime:          {Name: "start_time", Operator: "%START_TIME%"},
}

// host is the name of the authority in conditions on headers.
const host = "host"

// NewFields returns the fields of records, including the headers that entries may compare,
// with names in lower case. A header with the name of another field cannot be logged in
// addition to that field, so it is unknown. Renamed contains the keys of fields whose key
// differs from their name.
func NewFields(headers []string, renamed map[string]string) (*Fields, error) {
	f := &Fields{list: slices.Clone(fixed[:]), keys: map[string]int{}, headers: map[string]int{host: authority}, asked: headers}
	names := slices.Clone(headers)
	for name := range renamed {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == host || slices.ContainsFunc(f.list, func(field Field) bool { return field.Name == name }) {
			continue
		}
		f.headers[name] = len(f.list)
		if !slices.Contains(headers, name) {
			f.idle = append(f.idle, name)
		}
		f.list = append(f.list, Field{Name: name, Operator: "%REQ(" + strings.ToUpper(name) + ")%"})
	}
	for name, key := range renamed {
		name = strings.ToLower(name)
		if name == host {
			name = fixed[authority].Name
		}
		i := slices.IndexFunc(f.list, func(field Field) bool { return field.Name == name })
		if before := f.list[i].Key; before != "" && before != key {
			return nil, fmt.Errorf("the field %s is renamed twice, to %q and %q", name, min(before, key), max(before, key))
		}
		f.list[i].Key = key
	}
	for i := range f.list {
		field := &f.list[i]
		if field.Key == "" {
			field.Key = field.Name
		}
		if other, taken := f.keys[field.Key]; taken {
			return nil, fmt.Errorf("the fields %s and %s are both read from %q; give each a separate key", f.list[other].Name, field.Name, field.Key)
		}
		f.keys[field.Key] = i
	}
	return f, nil
}

// ParseRenamed returns the fields of a list NAME=KEY, separated by commas.
func ParseRenamed(text string) (map[string]string, error) {
	renamed := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, key, ok := strings.Cut(pair, "=")
		if !ok || key == "" || !isFieldName(name) {
			return nil, fmt.Errorf("%q is not NAME=FIELD, where NAME is the name of a field or a header", diag.OneLine(pair))
		}
		if _, twice := renamed[name]; twice {
			return nil, fmt.Errorf("the field %s is renamed twice", name)
		}
		renamed[name] = key
	}
	return renamed, nil
}

// isFieldName reports whether a text is a token of HTTP, as the names of headers are.
func isFieldName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("!#$&'*+-.^_`|~", c)
	})
}

// Idle returns the renamed fields that change no decision, sorted: each would be a header,
// and no entry compares it.
func (f *Fields) Idle() []string { return f.idle }

// FixedNames returns the names of the fields that are no headers, in one line.
func FixedNames() string {
	return strings.Join(lists.MapPointers(fixed[:], func(f *Field) string { return f.Name }), ", ")
}

// All returns the fields, sorted by key.
func (f *Fields) All() []Field {
	all := slices.Clone(f.list)
	slices.SortFunc(all, func(a, b Field) int { return strings.Compare(a.Key, b.Key) })
	return all
}
