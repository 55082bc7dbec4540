package xds

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Warning is usually about a part of a conf that cannot have an effect (SPEC 11.1).
type Warning struct {
	Code   diag.Code
	Policy *resource.Policy // nil if the warning is about the dataplane
	array  string           // of the policy: to, from or rules; default for a conf without arrays
	Index  int              // of the item in its array
	Field  string           // JSON pointer into the conf; "" for the whole conf
	// Place is the name of the resource that the conf is for.
	Place   string
	Message string
	// Inspected reports that package inspect gives this warning too, once for all
	// dataplanes.
	Inspected bool
	// Silent reports that the item is for the whole mesh, so it is meant for the places
	// where it has an effect. Elsewhere it is shown as without effect, and there is no
	// warning.
	Silent bool
	// Advice reports that the field has an effect; the message describes it.
	Advice bool
	// Error reports that the dataplane cannot be served as its policies ask for, and that
	// clients are denied instead (SPEC 7.5b).
	Error bool
	// Weakens reports that a patch weakens the permissions of the dataplane: the proxy
	// may allow what the permissions deny. If Error is set too, the patched resources are
	// not served (SPEC 11.5).
	Weakens bool
	// Unusable reports that the proxy would refuse what the dataplane asks for, so it is
	// not served (SPEC 11.1).
	Unusable bool
}

// String returns such as
// "kri_mt_default___t_ item 0 /connectionTimeout: a route has no ... (default/web)".
func (w Warning) String() string {
	if w.Policy == nil {
		return fmt.Sprintf("%s: %s", w.Place, w.Message)
	}
	item := fmt.Sprintf("%s item %d", w.Policy.KRI(), w.Index)
	if w.Field != "" {
		item += " " + w.Field
	}
	return fmt.Sprintf("%s: %s (%s)", item, w.Message, w.Place)
}

// Compare orders warnings by policy, item, field, place and message.
func (w Warning) Compare(o Warning) int {
	text := func(w Warning) string {
		kri := ""
		if w.Policy != nil {
			kri = w.Policy.KRI()
		}
		return fmt.Sprintf("%s\x00%08d\x00%s\x00%s\x00%s", kri, w.Index, w.Field, w.Place, w.Message)
	}
	return strings.Compare(text(w), text(o))
}

// ForLackOfTLS reports whether the warning is about an entry that never matches because the
// inbound has no TLS.
func (w *Warning) ForLackOfTLS() bool { return strings.Contains(w.Message, noTLS) }
