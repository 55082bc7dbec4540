package solver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// The answers of `diff`, `reach` and `check` about the permissions of random meshes are proven by
// z3 (SPEC 13.1, 13.2, 13.5). make e2e proves 20 meshes, make soak 500.
func TestSoakSolver(t *testing.T) {
	z3 := startZ3(t)
	meshes := 20
	if soak := fuzz.Soak(t); soak > 1 {
		meshes = 50 * soak
	}
	total := map[string]int{}
	for seed := range uint64(meshes) {
		if seed%50 == 0 && seed > 0 {
			t.Logf("%d of %d meshes", seed, meshes)
		}
		r := rand.New(rand.NewPCG(seed, 74))
		w := newWorld(t, r)
		before := &mesh{w, w.randomPolicies(r)}
		after := before.edited(r)
		c := &claims{}
		if err := before.claim(t, c, after, total); err != nil {
			if limit := new(access.LimitError); errors.As(err, &limit) { // an error in place of an answer
				total["limits"]++
			} else {
				t.Errorf("mesh %d: %v", seed, err)
			}
			continue
		}
		total["claims"] += len(c.about)
		if err := c.proven(t, z3, &w.alphabet); err != nil {
			t.Errorf("mesh %d, %v, %s: %v\nbefore:\n%s\nafter:\n%s", seed, w.semantics, w.clients, err, before, after)
		}
	}
	t.Log(total)
	if total["limits"] > meshes/100 {
		t.Errorf("%d meshes exceed a limit", total["limits"])
	}
	for _, kind := range []string{"claims", "opens", "closes", "all", "none", "some", "MM3001", "MM3002"} {
		if total[kind] < meshes/4 {
			t.Errorf("only %d of %s", total[kind], kind)
		}
	}
}

func (m *mesh) String() string {
	var out []string
	for i := range m.policies {
		out = append(out, m.policies[i].document(m.semantics))
	}
	return strings.Join(out, "\n")
}

// claim adds the claims of all answers.
func (m *mesh) claim(t *testing.T, c *claims, after *mesh, total map[string]int) error {
	set, view := m.load(t)
	_, next := after.load(t)
	for _, inbound := range inbounds {
		c.define("before-"+inbound, m.allowed(inbound))
		c.define("after-"+inbound, after.allowed(inbound))
		c.define("received-"+inbound, m.requests(inbound, false))
		c.define("any-"+inbound, m.requests(inbound, true))
	}
	if err := m.claimDifference(c, after, view, next, total); err != nil {
		return err
	}
	if err := m.claimReach(c, view, total); err != nil {
		return err
	}
	m.claimNeedless(c, set, view, total)
	return nil
}

var inbounds = []string{"http", "tcp"}

// change is a change of access in the JSON of diff.
type change struct {
	Clients       condition
	Before, After struct{ By place }
}

// place is the entry that decides in the JSON of an answer.
type place struct {
	KRI   string
	Rule  int
	List  string
	Index int
}

// split returns the entry, and the entries that decide before it. Without an entry, by default,
// all entries do.
func (p *place) split(entries []entry) (by *entry, earlier []entry) {
	var order []*entry
	for _, isDeny := range []bool{true, false} {
		for i := range entries {
			if e := &entries[i]; isDeny == (e.list == "deny") {
				order = append(order, e)
			}
		}
	}
	for _, e := range order {
		if p.KRI == "kri_mtp_default___"+e.policy+"_" && p.Rule == e.rule && p.List == e.list && p.Index == e.index {
			return e, earlier
		}
		earlier = append(earlier, *e)
	}
	return nil, earlier
}

type condition struct {
	Any []struct {
		Match  match   `json:"match"`
		Except []match `json:"except"`
	} `json:"any"`
}

// claimDifference claims that an inbound is in a list if a request opens or closes it, and that
// the conditions are of exactly the requests that change.
func (m *mesh) claimDifference(c *claims, after *mesh, view, next *core.View, total map[string]int) error {
	found, err := diff.New(view, next, "default", inspect.Options{})
	if err != nil {
		return err
	}
	var d struct {
		Opens, Closes []struct{ Dataplane, Inbound string }
		Access        []struct {
			Inbound       string
			Dataplanes    []string
			Opens, Closes []change
		}
	}
	if err := json.Unmarshal([]byte(asJSON(found)), &d); err != nil {
		return err
	}
	const dataplane = "kri_dp_default___backend_"
	for _, inbound := range inbounds {
		for _, way := range []struct {
			name, was, is string
			listed        []struct{ Dataplane, Inbound string }
		}{{"opens", "before-" + inbound, "after-" + inbound, d.Opens}, {"closes", "after-" + inbound, "before-" + inbound, d.Closes}} {
			changed := and(not(way.was), way.is)
			listed := slices.ContainsFunc(way.listed, func(i struct{ Dataplane, Inbound string }) bool {
				return i.Dataplane == dataplane && i.Inbound == inbound
			})
			c.exists(listed, and("any-"+inbound, changed), "diff: %s %s for clients with any certificate", inbound, way.name)
			var conditions []string
			for _, a := range d.Access {
				if a.Inbound != inbound || !slices.Contains(a.Dataplanes, dataplane) {
					continue
				}
				changes := a.Opens
				if way.name == "closes" {
					changes = a.Closes
				}
				for i := range changes {
					was, before := changes[i].Before.By.split(m.entries(inbound))
					is, later := changes[i].After.By.split(after.entries(inbound))
					conditions = append(conditions, m.conditionFormula(&changes[i].Clients, []*entry{was, is}, append(before, later...)))
				}
			}
			total[way.name] += len(conditions)
			c.exists(conditions != nil, and("received-"+inbound, changed), "diff: %s %s", inbound, way.name)
			c.equal(or(conditions...), changed, "received-"+inbound, "diff: %s %s for exactly the requests of its conditions", inbound, way.name)
		}
	}
	return nil
}

// conditionFormula returns a printed condition as a formula. A condition on a header means what
// it means in the entry from which it comes (SPEC 13.1): those of the match in the entries that
// decide, those of an exception in an entry that decides before them.
func (m *mesh) conditionFormula(printed *condition, by []*entry, earlier []entry) string {
	var clauses []string
	for i := range printed.Any {
		clause := &printed.Any[i]
		f := []string{m.formula(&clause.Match, func(h *header) scope {
			s := denial
			for _, e := range by {
				if e != nil && e.hasHeader(h) {
					s = min(s, scopes[e.list]) // it has to hold for both
				}
			}
			return s
		})}
		for k := range clause.Except {
			f = append(f, not(m.exception(&clause.Except[k], earlier)))
		}
		clauses = append(clauses, and(f...))
	}
	return or(clauses...)
}

// exception returns the formula of an exception, which is one of the earlier entries. If several
// are printed equally, it is all of them.
func (m *mesh) exception(printed *match, earlier []entry) string {
	s := whole
	for _, e := range earlier {
		if asJSON(e.match) == asJSON(printed) {
			s = max(s, scopes[e.list])
		}
	}
	return m.formula(printed, func(*header) scope { return s })
}

func (e *entry) hasHeader(h *header) bool {
	return slices.ContainsFunc(e.Headers, func(other header) bool {
		return strings.EqualFold(h.Name, other.Name) && h.Type == other.Type && h.Value == other.Value
	})
}

// claimReach claims that each cell of backend is right.
func (m *mesh) claimReach(c *claims, view *core.View, total map[string]int) error {
	found, err := traffic.NewReach(view, "default", traffic.ReachQuery{To: "backend"}, inspect.Options{})
	if err != nil {
		return err
	}
	var r struct {
		Clients  []struct{ ID string }
		Inbounds []struct{ Inbound string }
		Cells    []struct {
			Client, Inbound int
			Access          string
			When            condition
			By              []place
		}
	}
	if err := json.Unmarshal([]byte(asJSON(found)), &r); err != nil {
		return err
	}
	if len(r.Cells) < 2 || len(r.Inbounds) != 2 {
		return fmt.Errorf("reach has too few cells: %s", asJSON(found))
	}
	for _, cell := range r.Cells {
		id, inbound := r.Clients[cell.Client].ID, r.Inbounds[cell.Inbound].Inbound
		among := and("received-"+inbound, m.client(id))
		total[cell.Access]++
		allowed := "before-" + inbound
		c.exists(cell.Access != "none", and(among, allowed), "reach: %s allows %s something", inbound, id)
		c.exists(cell.Access != "all", and(among, not(allowed)), "reach: %s denies %s something", inbound, id)
		if cell.Access == "some" {
			var clauses []string
			when := cell.When.Any
			for _, decider := range cell.By {
				if !m.allows(&decider) || len(when) == 0 {
					continue
				}
				by, earlier := decider.split(m.entriesOf(inbound, id))
				clauses = append(clauses, m.conditionFormula(&condition{when[:1]}, []*entry{by}, earlier))
				when = when[1:]
			}
			c.equal(or(clauses...), allowed, among, "reach: %s allows %s exactly %s", inbound, id, asJSON(cell.When))
		}
	}
	return nil
}

// allows reports whether an entry or an item allows; the default does not.
func (m *mesh) allows(p *place) bool {
	for i := range m.policies {
		if of := &m.policies[i]; m.from && p.KRI == "kri_mtp_default___"+of.name+"_" {
			return of.from[p.Index].action != "Deny"
		}
	}
	return strings.HasPrefix(p.List, "allow")
}

// entriesOf returns the entries of an inbound that can match a client of a row of reach, without
// the conditions that the row has.
func (m *mesh) entriesOf(inbound, row string) []entry {
	entries := m.entries(inbound)
	if row == traffic.OtherClients {
		return entries
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool {
		id := e.SpiffeID
		switch {
		case id == nil:
			return false
		case id.Type == "Exact":
			return id.Value != row
		case m.semantics == semantics.Kuma:
			return !strings.HasPrefix(row, id.Value)
		}
		return !strings.HasPrefix(row+"/", strings.TrimSuffix(id.Value, "/")+"/")
	})
	for i := range entries {
		rest := *entries[i].match
		rest.SpiffeID = nil
		entries[i].match = &rest
	}
	return entries
}

// client returns the formula of the clients of a row of reach.
func (m *mesh) client(row string) string {
	var known []string
	for _, name := range []string{"backend", "web", "legacy"} {
		is := m.in("id", text(idOf(name)))
		known = append(known, is)
		if row != idOf(name) {
			continue
		}
		if m.clients == withTags {
			for _, key := range tagKeys {
				if value, ok := dataplanes[name][key]; ok {
					is = and(is, m.in(tagName(key), text(value)))
				} else {
					is = and(is, not(has(tagName(key))))
				}
			}
		}
		return is
	}
	return not(or(known...))
}

// claimNeedless claims that an entry decides nothing, or is needless, if check finds it so, and
// only then. Its findings are about clients with any certificate.
func (m *mesh) claimNeedless(c *claims, set *resource.Set, view *core.View, total map[string]int) {
	found := map[string]diag.Code{}
	for _, w := range check.New(view, set).Warnings {
		if w.Code == diag.NeverDecides || w.Code == diag.NeverNeeded {
			found[fmt.Sprintf("%s %s", w.Pos.File, w.Path)] = w.Code
			total[w.Code.String()]++
		}
	}
	effects := map[string]*effect{}
	var order []string
	for _, inbound := range inbounds {
		entries := m.entries(inbound)
		_, shadow := decision(entries)
		for i := range entries {
			e := &entries[i]
			name := fmt.Sprintf("%s spec.rules[%d].default.%s[%d]", e.policy, e.rule, e.list, e.index)
			if effects[name] == nil {
				effects[name] = &effect{}
				order = append(order, name)
			}
			lessAllowed, lessShadow := decision(slices.Delete(slices.Clone(entries), i, i+1))
			effects[name].decides = append(effects[name].decides, and("any-"+inbound, firstOf(entries, i)))
			effects[name].changes = append(effects[name].changes, and("any-"+inbound, or(
				not("(= before-"+inbound+" "+lessAllowed+")"), not("(= "+shadow+" "+lessShadow+")"))))
		}
	}
	for _, name := range order {
		code, decides, changes := found[name], or(effects[name].decides...), or(effects[name].changes...)
		c.exists(code != diag.NeverDecides, decides, "check: %s decides a request", name)
		if code != diag.NeverDecides {
			c.exists(code != diag.NeverNeeded, changes, "check: %s is needed", name)
		}
		delete(found, name)
	}
	for name := range found {
		c.exists(true, "false", "check: %s is an entry that can match", name)
	}
}

// effect are the requests of all inbounds that an entry decides, and whose decision it changes.
type effect struct{ decides, changes []string }

// firstOf returns the formula of the requests that an entry decides, or would decide if
// allowWithShadowDeny denied (SPEC 7.3, 7.4).
func firstOf(entries []entry, i int) string {
	e := &entries[i]
	before := func(lists ...string) string { return not(or(formulasOf(entries[:i], lists...)...)) }
	all := func(list string) string { return not(or(formulasOf(entries, list)...)) }
	switch e.list {
	case "deny":
		return and(e.formula, before("deny"))
	case "allow":
		return and(e.formula, all("deny"), before("allow", "allowWithShadowDeny"))
	}
	return and(e.formula, or(before("allowWithShadowDeny"), and(all("deny"), before("allow", "allowWithShadowDeny"))))
}
