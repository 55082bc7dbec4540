package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// idleEntries warns of permission entries that an inbound cannot match in full
// (SPEC 7.5), and of entries that change nothing on any inbound.
func (m *meshCheck) idleEntries() {
	e := entries{meshCheck: m, known: map[permission.Place]*entryEffect{}, seen: map[requests.Inputs]bool{}}
	for _, d := range m.dataplanes {
		for _, shadow := range []bool{false, true} { // an effect in either is an effect
			config := requests.ConfigIn(m.view.Configs(d, inspect.ScopeOf(shadow)))
			if config == nil {
				continue
			}
			for i := range config.Inbounds {
				e.inbound(requests.InputsOf(config, d, i, false), d)
			}
		}
	}
	for _, place := range e.order {
		switch effect := e.known[place]; {
		case !effect.decides:
			e.warnEntry(diag.NeverDecides, place, "changes nothing: another entry decides about every request that it matches",
				"remove it, or check the entries that deny or allow more")
		case !effect.needed:
			e.warnEntry(diag.NeverNeeded, place, "is not needed: without it, every request has the same decision",
				"remove it, and check again before another one is removed")
		case effect.denied != nil && effect.denied.isExcept:
			e.warnEntry(diag.ExceptedByDeny, place, effect.denied.name+" takes some requests out of what it allows", "")
		case effect.denied != nil:
			e.warnEntry(diag.PartlyShadowed, place, effect.denied.name+" denies some of the requests that it allows",
				"make one of them narrower if that is not meant")
		}
	}
	if e.unknown > 0 {
		m.warn(diag.Diagnostic{
			Code: diag.UnknownAccess, Pos: e.first.Pos, Path: "networking.inbound",
			What: fmt.Sprintf("it is unknown whether entries for %s, one of them of %s, change nothing: they divide the requests into more parts than the limit allows", diag.Count(e.unknown, "inbound"), e.first.Name),
			Hint: "use fewer regular expressions on one header or path",
		})
	}
}

// entries collects the effects of permission entries on the inbounds of a mesh.
type entries struct {
	*meshCheck
	known   map[permission.Place]*entryEffect
	order   []permission.Place // the keys of known, in the order in which they were added
	seen    map[requests.Inputs]bool
	unknown int                 // inbounds that exceed a limit
	first   *resource.Dataplane // of such an inbound
}

func (e *entries) inbound(p requests.Inputs, d *resource.Dataplane) {
	if e.seen[p] {
		return
	}
	e.seen[p] = true
	list, warnings := permission.NewDecisionList(p.Protocol, permission.RulesOf(p.Config.Inbounds[p.Inbound].Unmerged))
	e.warnings = append(e.warnings, warnings...)
	permissions := &permission.Permissions{Protocol: p.Protocol, Rules: list}
	decides, allows := requests.Deciding(permissions, e.accessLimits)
	var needless map[permission.Place]bool
	if decides != nil {
		needless = needlessEntries(permissions, decides, e.accessLimits)
		if p.Config.Inbounds[p.Inbound].From == nil {
			e.allows[p] = allows
		}
	}
	if needless == nil {
		if e.unknown++; e.first == nil {
			e.first = d
		}
	}
	denials := newDenials(p.Protocol, list, e.accessLimits)
	for _, entry := range list.Entries() {
		effect := e.known[entry.Place]
		if effect == nil {
			effect = new(entryEffect)
			e.known[entry.Place] = effect
			e.order = append(e.order, entry.Place)
		}
		if decides == nil {
			effect.decides, effect.needed = true, true
			continue
		}
		effect.decides = effect.decides || decides[entry.Place] != nil
		effect.needed = effect.needed || needless == nil || decides[entry.Place] != nil && !needless[entry.Place]
		if (effect.denied == nil || effect.denied.isExcept) && entry.List != permission.Deny && decides[entry.Place] != nil {
			effect.denied = cmp.Or(denials.denialFor(&entry), effect.denied)
		}
	}
}

func (e *entries) warnEntry(code diag.Code, place permission.Place, what, hint string) {
	e.warn(diag.Diagnostic{
		Code: code,
		Pos:  place.Policy.Rules[place.Rule].Pos,
		Path: fmt.Sprintf("spec.rules[%d].default.%s[%d]", place.Rule, place.List, place.Index),
		What: what,
		Hint: hint,
	})
}

// entryEffect is the effect of an entry on the inbounds so far.
type entryEffect struct {
	decides bool    // the entry decides some request
	needed  bool    // without the entry, some decision would differ
	denied  *denial // an entry of another policy that denies some of the requests that the entry allows
}

// needlessEntries returns, among the entries that decide some request, the entries
// without which every request has the same decision and the same shadow decision. It
// returns nil if this is unknown.
func needlessEntries(p *permission.Permissions, decides map[permission.Place]*access.Witness, limits access.Limits) map[permission.Place]bool {
	var needless map[permission.Place]bool
	known := map[permission.Place]bool{}
	for i, entry := range p.Rules.Entries() {
		if request := decides[entry.Place]; request != nil && p.Rules.Needs(i, request) {
			known[entry.Place] = true
		}
	}
	lists := requests.ListsOf(p)
	for _, list := range lists {
		for i := range list.Entries {
			// An entry that decides nothing is no candidate, but it stays in the list: it may
			// decide without a candidate.
			if by := list.Entries[i].By; decides[*by] == nil {
				known[*by] = true
			}
		}
	}
	for _, list := range lists {
		found, err := access.Needless(&access.Space{Protocol: p.Protocol}, list, known, limits)
		if err != nil {
			return nil
		}
		here := map[permission.Place]bool{}
		for _, e := range found {
			here[*e.By] = needless == nil || needless[*e.By]
		}
		needless = here
	}
	return needless
}

// denials finds the entries that deny some of the requests that an entry of another
// policy allows.
type denials struct {
	protocol request.Protocol
	limits   access.Limits
	all      []*access.Entry
	byID     map[string][]*access.Entry // the entries that may deny a client, by its SPIFFE ID
	others   []*access.Entry            // the entries that may deny a client with any other SPIFFE ID
}

func newDenials(protocol request.Protocol, list *permission.DecisionList, limits access.Limits) *denials {
	d := &denials{protocol: protocol, limits: limits, byID: map[string][]*access.Entry{}}
	all := access.ListOf(&permission.Permissions{Protocol: protocol, Rules: list})
	for i := range all.Entries {
		if entry := &all.Entries[i]; !entry.Allow {
			d.all = append(d.all, entry)
		}
	}
	exact := func(e *access.Entry) bool {
		return e.Match.SpiffeID != nil && e.Match.SpiffeID.Type == conf.SpiffeIDExact
	}
	for _, entry := range d.all {
		if exact(entry) {
			d.byID[entry.Match.SpiffeID.Value] = nil
		} else {
			d.others = append(d.others, entry)
		}
	}
	for _, entry := range d.all {
		if exact(entry) {
			id := entry.Match.SpiffeID.Value
			if d.byID[id] == nil {
				d.byID[id] = slices.Clone(d.others)
			}
			d.byID[id] = append(d.byID[id], entry)
		}
	}
	return d
}

// A denial is an entry that denies some of the requests that another one allows.
type denial struct {
	name string
	// isExcept reports that the entry denies nothing else: it is an exception from what is
	// allowed.
	isExcept bool
}

// denialFor returns the first entry that denies some of the requests that an entry allows, one that
// also denies others before an exception. It returns nil if there is none, or if this is
// unknown.
func (d *denials) denialFor(allowing *permission.Entry) *denial {
	candidates := d.all
	if id := allowing.Match.SpiffeID; id != nil && id.Type == conf.SpiffeIDExact {
		candidates = d.others
		if own := d.byID[id.Value]; own != nil {
			candidates = own
		}
	}
	allow := access.Entry{Match: allowing.Match, ValueScope: allowing.List.Scope(), Allow: true, By: &allowing.Place}
	space := &access.Space{Protocol: d.protocol}
	var except *denial
	for _, deny := range candidates {
		if deny.By.Policy == allowing.Policy {
			continue // the author of the policy sees both entries
		}
		if overlap, err := access.Overlap(space, deny, &allow, d.limits); err != nil {
			return nil
		} else if !overlap {
			continue
		}
		found := &denial{name: fmt.Sprintf("%s %q, rules[%d].default.deny[%d],", deny.By.Policy.Kind, deny.By.Policy.Name, deny.By.Rule, deny.By.Index)}
		within, err := access.Within(space, deny, &allow, d.limits)
		if found.isExcept = err == nil && within; !found.isExcept {
			return found
		}
		except = cmp.Or(except, found)
	}
	return except
}
