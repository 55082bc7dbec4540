package translators

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/xds"
)

// warnChosenHeaders warns of rules that apply by a header. Any client can send, omit or remove a
// header, and so have another conf or none (SPEC 7.2). No client can omit the host.
func warnChosenHeaders(i *xds.Inbound, in xds.InboundConf) {
	if in.InboundConfig == nil {
		return
	}
	for k := range in.Rules {
		for _, o := range in.Rules[k].Origins {
			if o.Policy.Unreadable || o.Index >= len(o.Policy.Rules) { // a `from` item that is read as a rule
				continue
			}
			if name := chosenHeader(o.Policy.Rules[o.Index].Matches); name != "" {
				i.WarnPolicy(diag.EvadableEntry, o.Policy, o.Index, "",
					"it applies by the header %s, which any client can send, omit or remove with a Connection header", name)
				i.Warnings[len(i.Warnings)-1].Advice = true // the rule has an effect
			}
		}
	}
}

// chosenHeader returns the first header of the matches of a rule that a client chooses; "" if
// there is none.
func chosenHeader(matches []conf.Match) string {
	for k := range matches {
		for h := range matches[k].Headers {
			if name := strings.ToLower(string(matches[k].Headers[h].Name)); name != "host" {
				return name
			}
		}
	}
	return ""
}
