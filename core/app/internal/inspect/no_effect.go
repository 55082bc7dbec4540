package inspect

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// A NoEffect is a field of an item that the proxy of a dataplane does not get.
type NoEffect struct {
	Policy *resource.Policy
	Index  int    // of the item
	Field  string // JSON pointer into the conf; "" for the whole conf
	Reason string
	// Inbound or Outbound is the index of the inbound or outbound of the answer that
	// lacks the field; the other is -1. Both are -1 for a field of the
	// whole proxy. The listeners of a zone proxy have the indexes after the inbounds.
	Inbound, Outbound int
	OfKuma            bool // a proxy of Kuma gets the field (SPEC 17.1)
}

// noEffect is ReasonOfNoEffect at the place that is shown.
func (options *Options) noEffect(origin results.Origin, pointer string) string {
	return options.ReasonOfNoEffect(origin, pointer, options.isHere)
}

// ReasonOfNoEffect returns the reason why the proxy does not get a field that an item
// set, or a part of the field; "" if it does. isHere reports whether a field of
// Options.NoEffect belongs to the place of the field; if it is nil, every one does.
func (options *Options) ReasonOfNoEffect(origin results.Origin, pointer string, isHere func(*NoEffect) bool) string {
	var reasons []string
	for i := range options.NoEffect {
		n := &options.NoEffect[i]
		here := n.Policy.ID == origin.Policy.ID && n.Index == origin.Index && (isHere == nil || isHere(n))
		if here && covers(n.Field, pointer) && !slices.Contains(reasons, n.Reason) {
			reasons = append(reasons, n.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// covers reports whether one of two fields is a part of the other.
func covers(field, pointer string) bool {
	return field == pointer || strings.HasPrefix(pointer, field+"/") || strings.HasPrefix(field, pointer+"/")
}
