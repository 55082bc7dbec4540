package diff

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Findings returns what opens, closes and drains as findings, sorted (SPEC 13.5). What opens
// or closes is at the entry that decides after the edit or, if there is none, at the
// dataplane. The drains of one cause are one finding.
func (d *Diff) Findings() []diag.Diagnostic {
	var findings []diag.Diagnostic
	known := map[InboundOf]bool{}
	for i := range d.Access {
		a := &d.Access[i]
		for k := range a.Dataplanes {
			known[InboundOf{a.Dataplanes[k], a.Inbound, a.Names[k]}] = true
		}
		add := func(code diag.Code, what string, changes []AccessChange) {
			for k := range changes {
				pos := changes[k].pos
				if pos == (diag.Position{}) {
					pos = a.pos
				}
				findings = append(findings, diag.Diagnostic{
					Code: code, Pos: pos,
					What: fmt.Sprintf("inbound %s of %s %s: %s", a.Inbound, words.First(a.Names), what, diag.Clip(changes[k].Clients.String(), 300)),
				})
			}
		}
		add(diag.AccessOpens, "allows what it denied", a.Opens)
		add(diag.AccessCloses, "denies what it allowed", a.Closes)
	}
	unseen := func(code diag.Code, what string, inbounds []InboundOf) {
		var names []string
		for _, in := range inbounds {
			if !known[in] {
				names = append(names, in.Name+" "+in.Inbound)
			}
		}
		if len(names) > 0 {
			findings = append(findings, diag.Diagnostic{
				Code: code, What: what + " of a client that has another certificate, or it is unknown: " + words.First(names),
			})
		}
	}
	unseen(diag.AccessOpens, "an inbound may allow a request that it denied,", d.Opens)
	unseen(diag.AccessCloses, "an inbound may deny a request that it allowed,", d.Closes)
	return diag.Sorted(append(findings, d.drainFindings()...))
}

func (d *Diff) drainFindings() []diag.Diagnostic {
	var causes []string
	listeners := map[string][]string{}
	for i := range d.Drains {
		drain := &d.Drains[i]
		cause := strings.Join(drain.Because, ", ")
		if listeners[cause] == nil {
			causes = append(causes, cause)
		}
		listeners[cause] = append(listeners[cause], drain.Name+" "+drain.Listener)
	}
	findings := make([]diag.Diagnostic, len(causes))
	for i, cause := range causes {
		findings[i] = diag.Diagnostic{Code: diag.ListenerDrains, What: "a change of " + cause + " closes the connections of listeners: " + words.First(listeners[cause])}
	}
	return findings
}

// positionOf returns the position of the rule or item of an entry.
func positionOf(place *permission.Place) diag.Position {
	if place.List == permission.From {
		return place.Policy.From[place.Index].Pos
	}
	return place.Policy.Rules[place.Rule].Pos
}
