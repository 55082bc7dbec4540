package capability

import (
	"slices"
	"strings"
)

// A lackedField is a field of a policy kind that has no effect, or a weaker one, at a client without
// a capability. Each has a warning there (SPEC 18.3).
type lackedField struct {
	Kind  string
	Field string // a JSON pointer into the conf; what is below it is meant too
	What  string // what is left out of the field
}

// leftOut are the fields that clients lack, by capability. Those of
// what a release added to the API are in [capability.leftOut].
var leftOut = map[Set][]lackedField{
	DelayedConnect: {{"MeshTrafficPermission", "", "on TCP, entries that a TLS handshake does not express deny, and so does an inbound without TLS"}},
	LogServices:    {{"MeshAccessLog", "/backends", "OpenTelemetry collectors by `http` and `https`"}},
}

// leftOut returns the fields that a client without the capability lacks. What a release added to
// the API is left out of patches and of the formats of logs.
func (c *capability) leftOut() []lackedField {
	list := leftOut[c.Set]
	for i, release := range Releases[1:] {
		if c.Set != API136<<i {
			continue
		}
		list = append(list, lackedField{"MeshProxyPatch", "/appendModifications", "modifications with a type, field, word or operator that " + release + " added"})
		if operators := addedOperators(release); operators != nil {
			list = append(list, lackedField{"MeshAccessLog", "/backends", "the operators `" + strings.Join(operators, "`, `") + "`, written as `-`"})
		}
	}
	return list
}

// addedOperators returns the operators and their forms that a release added and that have no
// older form.
func addedOperators(release string) (list []string) {
	for name, o := range operators {
		if o.release == release && release != Releases[0] && olderNames[name] == "" {
			list = append(list, name)
		}
	}
	for _, newer := range newerForms {
		if newer.release == release && newer.text != "" {
			list = append(list, newer.text)
		}
	}
	slices.Sort(list)
	return list
}
