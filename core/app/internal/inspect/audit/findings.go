package audit

import (
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/rbac"
	"github.com/meshmatch/meshmatch/core/internal/access"
)

// Finding is about a filter itself (SPEC 19.4).
type Finding struct {
	Code    string           `json:"code"`
	Inbound string           `json:"inbound"`
	Filter  string           `json:"filter"`
	Policy  string           `json:"policy"`
	Message string           `json:"message"`
	Witness *inspect.Witness `json:"witness"`
}

// UnescapedID is the code of a finding: an identity was put into a regular expression as it is.
const UnescapedID = "unescaped-id"

// findingsOf returns the findings about the expressions of filters.
func findingsOf(inbound string, filters *rbac.Filters) []Finding {
	var out []Finding
	for _, e := range filters.Expressions {
		for _, id := range idInExpression.FindAllString(e.Source, -1) {
			escaped := escapedID(id)
			if escaped == id {
				continue
			}
			witness, ok := another(e.Source, strings.ReplaceAll(e.Source, id, escaped))
			if !ok {
				continue
			}
			out = append(out, Finding{
				Code: UnescapedID, Inbound: inbound, Filter: e.Filter, Policy: e.Policy,
				Message: "the SPIFFE ID " + id + " is in a regular expression without escapes, so the expression matches other clients; write " + escaped,
				Witness: &inspect.Witness{SpiffeID: witness},
			})
		}
	}
	return out
}

// idInExpression matches an ID as far as it is literal, apart from dots and plus signs.
var idInExpression = regexp.MustCompile(`spiffe://(?:[\w/+-]|\\.|\.)+`)

// escapedID escapes the dots and plus signs of an ID that are neither escaped nor followed by a
// repetition, as in .* and .+ at the end of a segment.
func escapedID(id string) string {
	var out strings.Builder
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case c == '\\' && i+1 < len(id):
			out.WriteString(id[i : i+2])
			i++
		case c == '.' && i+1 < len(id) && id[i+1] == '+':
			out.WriteString(".+")
			i++
		case c == '.' && i+1 == len(id): // what follows may repeat it
			out.WriteByte(c)
		case c == '.' || c == '+':
			out.WriteByte('\\')
			out.WriteByte(c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// another returns a SPIFFE ID that one expression matches and the other does not.
func another(source, escaped string) (id string, ok bool) {
	loose, err := rbac.IDs(source)
	if err != nil {
		return "", false
	}
	strict, err := rbac.IDs(escaped)
	if err != nil {
		return "", false
	}
	list := &access.List{Entries: []access.Entry{{When: access.And(loose, access.Not(strict)), Allow: true}}}
	found, err := access.CompareChain(&access.Space{NoTags: true}, &access.List{}, access.Chain{list}, access.Limits{})
	if err != nil || len(found) == 0 {
		return "", false
	}
	return found[0].Witness.SpiffeID, true
}

// distinct removes findings that are in the list twice, such as equal findings of two chains.
func distinct(all []Finding) []Finding {
	var out []Finding
	for _, f := range all {
		if !slices.ContainsFunc(out, func(o Finding) bool {
			return o.Inbound == f.Inbound && o.Filter == f.Filter && o.Policy == f.Policy && o.Message == f.Message
		}) {
			out = append(out, f)
		}
	}
	if out == nil {
		return []Finding{}
	}
	return out
}
