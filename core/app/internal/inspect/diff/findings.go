package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Findings returns what opens, closes and drains as findings, sorted (SPEC 13.5). What opens
// or closes is at the entry that decides after the edit or, if there is none, at the
// dataplane. The drains of one cause are one finding. With nameMesh each names the mesh.
func (d *Diff) Findings(nameMesh bool) []diag.Diagnostic {
	mesh := ""
	if nameMesh {
		mesh = " in mesh " + d.Meshes[0]
	}
	var findings []diag.Diagnostic
	type inboundWith struct {
		dataplane, inbound string
		code               diag.Code
	}
	known := map[inboundWith]bool{}
	for i := range d.Access {
		a := &d.Access[i]
		add := func(code diag.Code, what string, changes []AccessChange) {
			for _, dataplane := range a.Dataplanes {
				known[inboundWith{dataplane, a.Inbound, code}] = known[inboundWith{dataplane, a.Inbound, code}] || len(changes) > 0
			}
			for k := range changes {
				pos := changes[k].pos
				if pos == (diag.Position{}) {
					pos = a.pos
				}
				findings = append(findings, diag.Diagnostic{
					Code: code, Pos: pos,
					What: fmt.Sprintf("inbound %s of %s%s %s: %s", a.Inbound, words.First(a.Names), mesh, what, diag.Clip(changes[k].Clients.String(), 300)),
				})
			}
		}
		add(diag.AccessOpens, "allows what it denied", a.Opens)
		add(diag.AccessCloses, "denies what it allowed", a.Closes)
	}
	unseen := func(code diag.Code, what string, inbounds []InboundOf) {
		var names []string
		var first diag.Position
		for i := range inbounds {
			if in := &inbounds[i]; !known[inboundWith{in.Dataplane, in.Inbound, code}] {
				names, first = append(names, in.Name+" "+in.Inbound), cmp.Or(first, in.pos)
			}
		}
		if len(names) > 0 {
			findings = append(findings, diag.Diagnostic{
				Code: code, Pos: first, What: what + " of a client that has another certificate, or it is unknown: " + words.First(names) + mesh,
			})
		}
	}
	unseen(diag.AccessOpens, "an inbound may allow a request that it denied,", d.Opens)
	unseen(diag.AccessCloses, "an inbound may deny a request that it allowed,", d.Closes)
	return diag.Sorted(slices.Concat(findings, d.lossFindings(mesh), d.drainFindings(mesh), d.notComparedFindings()))
}

// lossFindings returns a finding for each inbound that clients lose although its permissions
// are the same: their identities change, or what the inbound can receive.
func (d *Diff) lossFindings(mesh string) []diag.Diagnostic {
	var findings []diag.Diagnostic
	clients, first := map[string][]string{}, map[string]diag.Position{}
	for i := range d.Loses {
		if l := &d.Loses[i]; !l.found {
			key := "inbound " + l.Inbound + " of " + l.To
			clients[key], first[key] = append(clients[key], l.Client), cmp.Or(first[key], l.pos)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(clients)) {
		findings = append(findings, diag.Diagnostic{
			Code: diag.AccessCloses, Pos: first[key],
			What: fmt.Sprintf("%s may no longer call %s%s: their identity, or the TLS of the inbound, changes", words.First(slices.Compact(clients[key])), key, mesh),
		})
	}
	return findings
}

func (d *Diff) drainFindings(mesh string) []diag.Diagnostic {
	var causes []string
	listeners, first := map[string][]string{}, map[string]diag.Position{}
	for i := range d.Drains {
		drain := &d.Drains[i]
		cause := strings.Join(drain.Because, ", ")
		if listeners[cause] == nil {
			causes = append(causes, cause)
			first[cause] = drain.Pos
		}
		listeners[cause] = append(listeners[cause], drain.Name+" "+drain.Listener)
	}
	findings := make([]diag.Diagnostic, len(causes))
	for i, cause := range causes {
		findings[i] = diag.Diagnostic{
			Code: diag.ListenerDrains, Pos: first[cause],
			What: "a change of " + cause + " closes the connections of listeners: " + words.First(listeners[cause]) + mesh,
		}
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
