package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// An item has no effect if and only if `check` finds so (SPEC 13.5): each item of a random mesh is
// removed, and the confs that the reference makes with and without it are compared, for each
// dataplane, inbound, client, route and listener, with and without the policies that only inform.
// Without an item that has no effect, each proxy of Envoy and of gRPC is also served the same
// resources. Entries of permissions are removed by
// TestSoakAnswersAgree, and proven by TestSoakSolver.
func TestSoakNeedlessItems(t *testing.T) {
	for _, as := range []semantics.Semantics{semantics.TargetRef, semantics.Kuma, semantics.Kuma3} {
		scenarios := 60 * uint64(fuzz.Soak(t))
		if testing.Short() {
			scenarios /= 10
		}
		var counts removals
		g := oracle.AllKinds(t)
		if as != semantics.TargetRef {
			g = g.WithKumaLabels().ReadBy(as)
		}
		g.Compare(t, scenarios, func(s *fuzz.Scenario) error { return withoutEach(t, s, as, &counts) })
		t.Logf("%s: %d items; %d change nothing, %d by the finding MM3003; %d with the same resources", as, counts.all.Load(), counts.none.Load(), counts.equal.Load(), counts.served.Load())
		if !testing.Short() && (counts.none.Load() == 0 || counts.all.Load() == counts.none.Load() || as != semantics.Kuma3 && counts.equal.Load() == 0) {
			t.Errorf("%s: too few items", as)
		}
	}
}

// removals counts the items that were removed.
type removals struct{ all, none, equal, served atomic.Int64 }

// served returns the resources of the proxies of a mesh, for both types of clients.
func served(builder *snapshot.Builder, view *core.View) map[string]any {
	out, state := map[string]any{}, builder.At(view)
	for _, mesh := range view.Meshes() {
		for _, d := range view.Dataplanes(mesh) {
			for _, client := range []xds.ClientType{xds.Envoy, xds.ProxylessGRPC} {
				s := state.SnapshotFor(d, xds.Client{Type: client})
				for t := range wire.Type(wire.NumTypes) {
					for _, r := range s.Resources(t) {
						out[fmt.Sprint(d.ID, " ", client, " ", t, " ", r.Name)] = r.Version
					}
				}
			}
		}
	}
	return out
}

// claims are the findings that say of an item, or of each item of a policy, that it has no effect.
var claims = []diag.Code{diag.SetsNothing, diag.OverriddenEverywhere, diag.EqualsOverridden, diag.SelectsNothing, diag.NoDataplanes}

func withoutEach(t *testing.T, s *fuzz.Scenario, as semantics.Semantics, counts *removals) error {
	set, err := s.Load()
	if err != nil {
		return err
	}
	options := core.Options{Semantics: cmp.Or(as, core.TargetRef)}
	view, err := options.NewView(t.Context(), s.Kinds(), set)
	if err != nil {
		return err
	}
	found := check.New(view, set).Warnings
	with := &removal{s, set, as.String(), map[string][]map[string]string{}}
	before, err := with.confs("")
	if err != nil {
		return err
	}
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
	servedBefore := served(builder, view)
	for i, p := range set.Policies {
		if p.Kind == permission.KindName || p.Kind == "MeshFaultInjection" { // lists of entries, which are not merged
			continue
		}
		for _, path := range itemPaths(p) {
			less := *set
			less.Policies = slices.Clone(set.Policies)
			if less.Policies[i] = withoutItem(p, path); less.Policies[i] == nil {
				continue
			}
			kind := p.Kind
			if p.IsRoute() { // other kinds have confs of its routes
				kind = ""
			}
			after, err := (&removal{s, &less, as.String(), with.clients}).confs(kind)
			if err != nil {
				return err
			}
			was := before
			if kind != "" {
				was = ofKind(before, kind)
			}
			counts.all.Add(1)
			difference, finding := fuzz.Difference(was, after), findingOf(set, found, i, path)
			if difference == "" {
				counts.none.Add(1)
			}
			// The reference does not know the clients of a second inbound of a name.
			isQueried := difference == "" && (strings.HasPrefix(path, "spec.to") || path == "spec.default")
			if isQueried || finding != nil && slices.Contains(claims, finding.Code) {
				valid := less
				if rest := less.Policies[i]; len(rest.To)+len(rest.From)+len(rest.Rules) == 0 && rest.Default == nil {
					valid.Policies = slices.Delete(slices.Clone(less.Policies), i, i+1) // it was the only item
				}
				without, err := options.NewView(t.Context(), s.Kinds(), &valid)
				if err != nil {
					return err
				}
				counts.served.Add(1)
				keep := func(all map[string]any) map[string]any {
					if strings.HasPrefix(path, "spec.rules") { // they may have routes after an equal match
						maps.DeleteFunc(all, func(key string, _ any) bool { return strings.Contains(key, " routes ") })
					}
					return all
				}
				if other := fuzz.Difference(keep(maps.Clone(servedBefore)), keep(served(builder, without))); other != "" {
					return fmt.Errorf("%s: without %s of %s %q the confs are the same, and the resources differ, %s", as, path, p.Kind, p.Name, other)
				}
			}
			if finding != nil && finding.Code == diag.EqualsOverridden {
				counts.equal.Add(1)
			}
			switch {
			case difference != "" && finding != nil && slices.Contains(claims, finding.Code):
				if p.IsRoute() && fuzz.Difference(ofKind(before, p.Kind), ofKind(after, p.Kind)) == "" {
					continue // other kinds have confs of the route, to which no request goes
				}
				return fmt.Errorf("%s: without %s the confs differ, %s", as, finding.Line(), difference)
			case difference == "" && finding == nil && isExamined(view, p, path):
				return fmt.Errorf("%s: without %s of %s %q all confs are the same, and no finding says so", as, path, p.Kind, p.Name)
			}
		}
	}
	return nil
}

// ofKind returns the confs of a kind.
func ofKind(confs map[string]any, kind string) map[string]any {
	out := maps.Clone(confs)
	maps.DeleteFunc(out, func(key string, _ any) bool { return !strings.Contains(key, " "+kind+" ") })
	return out
}

// isExamined reports whether a finding about an item is due if it changes nothing (SPEC 13.5): the
// policy selects a dataplane that has a place for its conf, for an item of `to` an outbound, for
// others an inbound, and no listener of a builtin gateway or of a zone proxy. An item of `from` that sets a field, and one of several rules, which may have
// a match in common, are not examined further; nor is one for routes that keeps the other items of
// its policy from outbounds by tags.
func isExamined(view *core.View, p *resource.Policy, path string) bool {
	var at int
	if scan(path, "spec.to[%d]", &at) && p.To[at].TargetRef.Kind.IsRoute() && !view.Semantics().AppliesToTags(p) && len(p.To) > 1 {
		return false
	}
	selected, err := view.SelectedBy(p.ID)
	if slices.ContainsFunc(selected, func(s core.Selection) bool {
		refs, _ := inspect.ListenerPoints(view, s.Dataplane)
		return len(refs) > 0
	}) {
		return false
	}
	return err != nil || slices.ContainsFunc(selected, func(s core.Selection) bool {
		d := s.Dataplane
		if strings.HasPrefix(path, "spec.to") {
			outbounds, err := view.Outbounds(d, p.Kind, core.Shadow)
			return err != nil || len(outbounds) > 0
		}
		if path == "spec.default" {
			return true
		}
		if len(d.Inbounds) == 0 || strings.HasPrefix(path, "spec.from") {
			return false
		}
		config, err := view.Config(d, p.Kind, core.Shadow)
		if err != nil {
			return true
		}
		matches := map[string]bool{}
		for _, m := range config.Matched.All() {
			for i := range m.Policy.Rules {
				matches[conf.MatchesKey(m.Policy.Rules[i].Matches)] = true
			}
		}
		return len(matches) == 1
	})
}

// itemPaths returns the paths of the items of a policy.
func itemPaths(p *resource.Policy) []string {
	var paths []string
	for name, n := range map[string]int{"to": len(p.To), "from": len(p.From), "rules": len(p.Rules)} {
		for i := range n {
			paths = append(paths, fmt.Sprintf("spec.%s[%d]", name, i))
		}
	}
	if p.Default != nil {
		paths = append(paths, "spec.default")
	}
	slices.Sort(paths)
	return paths
}

// findingOf returns the finding about the effect of an item: one of claims, or else any one about
// the item, or about all items of its policy.
func findingOf(set *resource.Set, found []diag.Diagnostic, policy int, path string) *diag.Diagnostic {
	p, next := set.Policies[policy], math.MaxInt
	for _, other := range set.Policies {
		if other.Pos.File == p.Pos.File && other.Pos.Line > p.Pos.Line {
			next = min(next, other.Pos.Line)
		}
	}
	list, _, _ := strings.Cut(path, "[")
	alone := !slices.ContainsFunc(set.Dataplanes, func(d *resource.Dataplane) bool { return d.Mesh == p.Mesh })
	var about *diag.Diagnostic
	for i := range found {
		w := &found[i]
		if w.Code == diag.NoDataplanes && alone {
			return w
		}
		if w.Pos.Line < p.Pos.Line || w.Pos.Line >= next || !(w.Path == "spec.targetRef" || w.Path == list || w.Path == path || strings.HasPrefix(w.Path, path+".")) {
			continue
		}
		if slices.Contains(claims, w.Code) && (w.Path == path || w.Path == "spec.targetRef") {
			return w
		}
		about = w
	}
	return about
}

// removal is a mesh with all items, or without one.
type removal struct {
	*fuzz.Scenario
	set       *resource.Set
	semantics string
	clients   map[string][]map[string]string // of the inbounds of the mesh with all items
}

// confs returns the confs of a kind, or of all kinds, by their places.
func (m *removal) confs(kind string) (map[string]any, error) {
	out := map[string]any{}
	for _, dp := range m.set.Dataplanes {
		for _, shadow := range []bool{false, true} {
			opt := naive.Options{Semantics: m.semantics, Explain: true, Hub: m.Hub(), Kind: kind, Shadow: shadow}
			answer, err := naive.Inspect(m.Kinds(), m.set, dp.Mesh, dp.Namespace, dp.Name, opt)
			if err != nil {
				return nil, err
			}
			tree, err := asTree(answer)
			if err != nil {
				return nil, err
			}
			add := func(conf any, of ...any) {
				if fields, ok := conf.(map[string]any); ok && len(fields) > 0 {
					if key := fmt.Sprint(dp.Mesh, "/", dp.Namespace, "/", dp.Name, " ", shadow, " ", fmt.Sprint(of...)); out[key] == nil {
						out[key] = conf
					}
				}
			}
			for _, policy := range list(tree, "policies") {
				kind := policy["kind"].(string)
				add(mapOf(policy["default"])["conf"], kind, " default")
				for i, outbound := range list(policy, "outbounds") {
					add(outbound["conf"], kind, " outbound ", i)
					for _, route := range list(outbound, "routes") {
						add(route["conf"], kind, " outbound ", i, " ", route["route"])
					}
				}
				for at, inbound := range slices.Concat(list(policy, "inbounds"), list(policy, "listeners")) {
					add(mapOf(inbound["to"])["conf"], kind, " place ", at, " to")
					for _, host := range list(inbound, "hosts") {
						add(host["conf"], kind, " place ", at, " host ", host["hostname"])
					}
					for _, rule := range list(inbound, "rules") {
						add(rule["conf"], kind, " place ", at, " rule ", asText(rule["match"]))
					}
				}
			}
			for _, of := range m.Kinds().All() {
				if of.From == nil || of.Name == permission.KindName || kind != "" && kind != of.Name {
					continue
				}
				opt.Kind = of.Name
				c := &comparison{kinds: m.Kinds(), set: m.set, dp: dp, opt: opt}
				for at, from := range c.froms(m.set, opt) {
					place := fmt.Sprint(dp.ID, shadow, of.Name, at)
					if m.clients[place] == nil {
						m.clients[place] = from.Clients()
					}
					for _, tags := range m.clients[place] {
						tree, err := asTree(from.C(tags))
						if err != nil {
							return nil, err
						}
						add(tree["conf"], of.Name, " from ", at, " ", tags)
					}
				}
			}
		}
	}
	return out, nil
}

// withoutItem returns a policy without the item at a path, or nil if the policy without it is read
// in another way: Kuma derives the role from the items.
func withoutItem(p *resource.Policy, path string) *resource.Policy {
	policy := *p
	var index int
	switch {
	case scan(path, "spec.to[%d]", &index):
		policy.To = slices.Delete(slices.Clone(p.To), index, index+1)
	case scan(path, "spec.from[%d]", &index):
		policy.From = slices.Delete(slices.Clone(p.From), index, index+1)
	case scan(path, "spec.rules[%d]", &index):
		policy.Rules = slices.Delete(slices.Clone(p.Rules), index, index+1)
	default:
		policy.Default = nil
	}
	role, _ := semantics.RoleOf(p, false)
	if without, _ := semantics.RoleOf(&policy, false); without != role {
		return nil
	}
	return &policy
}

func scan(path, format string, index *int) bool {
	n, err := fmt.Sscanf(path, format, index)
	return err == nil && n == 1
}
