package fuzz

import (
	"encoding/json"
	"maps"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// refusesSpiffeID reports whether a Conf has fields that cannot depend on a
// match of the client's SPIFFE ID.
func refusesSpiffeID(section *resource.Section, document map[string]any) bool {
	data, err := json.Marshal(document)
	if err != nil {
		return false
	}
	decoded, err := decodeConf(section, data)
	matched, ok := decoded.(interface {
		ValidateMatches(at *diag.At, matches []conf.Match)
	})
	if err != nil || !ok {
		return false
	}
	var sink diag.Sink
	matched.ValidateMatches(diag.Root(diag.GoValue("conf"), &sink), []conf.Match{{SpiffeID: &conf.SpiffeIDMatch{}}})
	return sink.Failed()
}

// withoutSpiffeID replaces the matches by matches without a condition on the
// SPIFFE ID.
func withoutSpiffeID(matches []map[string]any) {
	for i, match := range matches {
		matches[i] = maps.Clone(match)
		delete(matches[i], "spiffeId")
		delete(matches[i], "spiffeID")
	}
}
