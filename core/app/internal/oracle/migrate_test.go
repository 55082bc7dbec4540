package oracle

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/migrate"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/oracle"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
	"github.com/meshmatch/meshmatch/fuzz/naive"
)

// Random meshes are rewritten for Kuma 3. Each difference in access is one, and is not made
// by the rewrite if it opens an inbound; where no conf differs, the reference makes the
// same confs for both versions; and what is rewritten needs no further rewrite.
func TestSoakMigration(t *testing.T) {
	scenarios := 300 * uint64(fuzz.Soak(t))
	if testing.Short() {
		scenarios /= 10
	}
	var seen sync.Map // the edited fields, without indexes, and the codes of findings
	oracle.AllKinds(t).WithKumaLabels().WithDestinations().ReadBy(semantics.Kuma, semantics.Kuma3).Compare(t, scenarios, compareMigration(t, &seen))
	oracle.Permissions(t).WithKumaLabels().ReadBy(semantics.Kuma, semantics.Kuma3).Compare(t, 2*scenarios, compareMigration(t, &seen))
	for _, what := range []string{
		"MeshTimeout spec.from", "MeshTrafficPermission spec.from", "any spec.targetRef", "any spec.to[].targetRef", "Dataplane labels",
		diag.TargetNotInKuma3.String(), diag.MTLSNotInKuma3.String(), diag.OpensInKuma3.String(),
	} {
		if _, met := seen.Load(what); !met && !testing.Short() {
			t.Errorf("no scenario has %s", what)
		}
	}
}

func compareMigration(t *testing.T, seen *sync.Map) func(*fuzz.Scenario) error {
	return func(s *fuzz.Scenario) error {
		m, err := newMigration(t, s)
		if err != nil {
			return err
		}
		for _, d := range m.result.Documents {
			for _, edit := range d.Edits {
				seen.Store("any "+regexp.MustCompile(`[0-9]+`).ReplaceAllString(edit, ""), true)
				seen.Store(d.Kind+" "+regexp.MustCompile(`[0-9]+`).ReplaceAllString(edit, ""), true)
			}
		}
		for i := range m.result.Findings {
			seen.Store(m.result.Findings[i].Code.String(), true)
		}
		for _, d := range m.result.Differences {
			for i := range d.Access {
				if err := m.checkAccess(d.Mesh, &d.Access[i]); err != nil {
					return err
				}
			}
		}
		again, err := migrate.Kuma3(t.Context(), m.loader, m.after2, m.rewritten)
		if err != nil {
			return fmt.Errorf("the rewritten documents: %w", err)
		}
		for _, d := range again.Documents {
			return fmt.Errorf("%s %s is rewritten twice: %v", d.Kind, d.Name, d.Edits)
		}
		return m.checkConfs()
	}
}

// migration is a scenario before and after.
type migration struct {
	kinds     *resource.Kinds
	hub       *naive.Hub
	loader    resource.Loader
	set       *resource.Set // original
	rewritten *resource.Set // with the rewritten documents in place of the originals
	before    *core.View    // Kuma 2 reads the original
	ignored   *core.View    // Kuma 3 reads the original
	after     *core.View    // Kuma 3 reads the rewritten documents
	after2    *core.View    // Kuma 2 reads the rewritten documents
	result    *migrate.Result
}

func newMigration(t *testing.T, s *fuzz.Scenario) (*migration, error) {
	m := &migration{kinds: s.Kinds(), hub: s.Hub(), loader: resource.Loader{Kinds: s.Kinds(), Documents: ocm.Documents(), KeepSources: true}}
	var err error
	if m.set, err = m.loader.Decode(t.Context(), resource.Input{Name: "scenario", Data: []byte(s.YAML())}); err != nil {
		return nil, err
	}
	for _, v := range []struct {
		view **core.View
		as   semantics.Semantics
	}{{&m.before, semantics.Kuma}, {&m.ignored, semantics.Kuma3}} {
		if *v.view, err = (core.Options{Semantics: cmp.Or(v.as, core.TargetRef)}).NewView(t.Context(), m.kinds, m.set); err != nil {
			return nil, err
		}
	}
	if m.result, err = migrate.Kuma3(t.Context(), m.loader, m.before, m.set); err != nil {
		return nil, err
	}
	var text strings.Builder
	replaced := func(meta *resource.Meta) bool {
		return slices.ContainsFunc(m.result.Documents, func(d migrate.Document) bool {
			return d.Kind == meta.Kind && d.Mesh == meta.Mesh && d.Namespace == meta.Namespace && d.Name == meta.Name
		})
	}
	for _, meta := range metasOf(m.set) {
		if source, has := m.set.Sources[meta.Pos]; has && !replaced(meta) {
			fmt.Fprintf(&text, "%s\n---\n", source)
		}
	}
	for _, d := range m.result.Documents {
		fmt.Fprintf(&text, "%s\n---\n", d.Source)
	}
	if m.rewritten, err = m.loader.Decode(t.Context(), resource.Input{Name: "rewritten", Data: []byte(text.String())}); err != nil {
		return nil, fmt.Errorf("the rewritten documents do not load: %w", err)
	}
	if m.after, err = (core.Options{Semantics: semantics.Kuma3}).NewView(t.Context(), m.kinds, m.rewritten); err != nil {
		return nil, err
	}
	m.after2, err = (core.Options{Semantics: semantics.Kuma}).NewView(t.Context(), m.kinds, m.rewritten)
	return m, err
}

// metasOf returns the metadata of all resources.
func metasOf(set *resource.Set) []*resource.Meta {
	var out []*resource.Meta
	for _, x := range set.Meshes {
		out = append(out, &x.Meta)
	}
	for _, x := range set.Dataplanes {
		out = append(out, &x.Meta)
	}
	for _, x := range set.Policies {
		out = append(out, &x.Meta)
	}
	for _, x := range set.Objects {
		out = append(out, x.Identity())
	}
	for _, x := range set.Documents {
		out = append(out, &x.Meta)
	}
	return out
}

// checkAccess checks that a difference is one, and that the rewrite does not open an
// inbound.
func (m *migration) checkAccess(mesh string, d *migrate.AccessDifference) error {
	decide := func(view *core.View) bool {
		all := view.Dataplanes(mesh)
		at := slices.IndexFunc(all, func(dp *resource.Dataplane) bool { return strings.TrimPrefix(dp.Namespace+"/"+dp.Name, "/") == d.Name })
		dp := all[at]
		i := 0 // a listener may have the name of an inbound
		for find.InboundName(dp, i) != d.Inbound {
			i++
		}
		w := &d.Witness
		var lines []request.Header
		for name, value := range w.Headers {
			lines = append(lines, request.Header{Name: name, Value: value})
		}
		asked := &request.Request{SpiffeID: w.SpiffeID, SNI: w.SNI, Method: w.Method, Path: w.Path, Headers: request.NewHeaders(lines...), Tags: w.Tags}
		return inspect.Permissions(view, dp, i).Decide(asked).Decision.Allow
	}
	before, after, ignored := decide(m.before), decide(m.after), decide(m.ignored)
	switch {
	case before == d.Opens || after != d.Opens:
		return fmt.Errorf("%s %s: %+v is allowed %v before and %v after, want opens %v", d.Dataplane, d.Inbound, d.Witness, before, after, d.Opens)
	case d.Opens && !ignored:
		return fmt.Errorf("%s %s: a rewritten document opens it to %+v", d.Dataplane, d.Inbound, d.Witness)
	}
	return nil
}

// checkConfs compares the confs of the reference for the meshes without a difference.
func (m *migration) checkConfs() error {
	for _, dp := range m.set.Dataplanes {
		if slices.ContainsFunc(m.result.Differences, func(d migrate.Difference) bool { return d.Mesh == dp.Mesh && len(d.Groups) > 0 }) {
			continue
		}
		want, err := confsOf(m.kinds, m.set, m.hub, dp, "kuma")
		if err != nil {
			return err
		}
		got, err := confsOf(m.kinds, m.rewritten, m.hub, dp, "kuma3")
		if err != nil {
			return err
		}
		if diff := fuzz.Difference(want, got); diff != "" {
			return fmt.Errorf("the confs of %s in mesh %q differ, and no difference is reported, %s", dp.Name, dp.Mesh, diff)
		}
	}
	return nil
}

// confsOf returns the confs of a dataplane by the reference, without what depends on
// clients.
func confsOf(kinds *resource.Kinds, set *resource.Set, hub *naive.Hub, dp *resource.Dataplane, semantics string) (map[string]any, error) {
	answer, err := naive.Inspect(kinds, set, dp.Mesh, dp.Namespace, dp.Name, naive.Options{Semantics: semantics, Explain: true, Hub: hub})
	if err != nil {
		return nil, err
	}
	tree, err := asTree(answer)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, policy := range list(tree, "policies") {
		kind := policy["kind"].(string)
		if kind == "MeshTrafficPermission" || kind == "MeshFaultInjection" {
			continue
		}
		out[kind+" default"] = mapOf(policy["default"])["conf"]
		for i, outbound := range list(policy, "outbounds") {
			out[fmt.Sprint(kind, " outbound ", i)] = outbound["conf"]
			for _, route := range list(outbound, "routes") {
				out[fmt.Sprint(kind, " outbound ", i, " ", route["route"])] = route["conf"]
			}
		}
		for i, inbound := range list(policy, "inbounds") {
			for _, rule := range list(inbound, "rules") {
				if key := fmt.Sprint(kind, " inbound ", i, " ", asText(rule["match"])); out[key] == nil {
					out[key] = rule["conf"]
				}
			}
		}
	}
	for key, conf := range out {
		if conf == nil {
			delete(out, key)
		}
	}
	return out, nil
}

func mapOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}
