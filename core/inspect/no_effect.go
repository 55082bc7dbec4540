package inspect

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// A NoEffect is a field of an item that the proxy of a dataplane does not get.
type NoEffect struct {
	Policy *resource.Policy
	Index  int    // of the item
	Field  string // JSON pointer into the conf; "" for the whole conf
	Reason string
	// Inbound and Outbound are the indexes of the inbound or the outbound of the answer
	// that lack the field. Both are Anywhere for a field of the whole proxy.
	Inbound, Outbound int
}

// Anywhere is the index of no inbound or outbound.
const Anywhere = -1

// noEffect returns why the proxy does not get a field that an item set, or parts of it; ""
// if it does.
func (options *Options) noEffect(origin rules.Origin, pointer string) string {
	var reasons []string
	for i := range options.NoEffect {
		n := &options.NoEffect[i]
		here := n.Policy.ID == origin.Policy.ID && n.Index == origin.Index && (options.isHere == nil || options.isHere(n))
		if here && covers(n.Field, pointer) && !slices.Contains(reasons, n.Reason) {
			reasons = append(reasons, n.Reason)
		}
	}
	return strings.Join(reasons, "; ")
}

// covers reports whether a field is a part of another one, or has it as a part.
func covers(field, pointer string) bool {
	return field == pointer || strings.HasPrefix(pointer, field+"/") || strings.HasPrefix(field, pointer+"/")
}
