package admission

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// verdict is what is found about an object.
type verdict struct {
	refusing, warnings []string
	notes              map[string]string
}

// judge compares what is served with what would be if the object were stored or deleted. An
// object on which no answer depends has an empty verdict.
func (h *handler) judge(ctx context.Context, r *request) (*verdict, error) {
	deletes := r.Operation == "DELETE"
	if !h.kinds[r.Kind] || r.SubResource != "" || !deletes && r.Operation != "CREATE" && r.Operation != "UPDATE" {
		return &verdict{}, nil
	}
	state := h.Current()
	if state == nil {
		return nil, errNotYet
	}
	document := r.Object
	if deletes {
		document = r.OldObject
	}
	if len(document) == 0 || string(document) == "null" {
		return nil, errors.New("the review has no object")
	}
	object, err := kubernetes.Admitted(r.Kind.Group, r.Kind.Kind, document)
	if err != nil {
		return nil, fmt.Errorf("the object cannot be read: %s", diag.Clip(err.Error(), 200))
	}
	edit := new(resource.Set)
	if !deletes {
		edit, err = source.Decode(ctx, h.Loader, object)
	}
	var invalid diag.Errors
	if errors.As(err, &invalid) {
		v := &verdict{}
		v.refusing = lists.Map(invalid, func(e diag.Diagnostic) string { return text(e, object.At) })
		return v, nil
	} else if err != nil {
		return nil, err
	}
	before := stored(state.Set, object.ID)
	findings, limits, err := h.compare(ctx, state, source.Edited(state.Set, edit, before), meshOf(before, edit))
	if err != nil {
		return nil, err
	}
	v := h.verdict(findings, object.At)
	for _, limit := range limits {
		v.warnings = append(v.warnings, "not all is compared: "+diag.OneLine(limit.Error()))
	}
	return v, nil
}

// stored returns the resource that an object is now, which may be in another mesh. If the
// stored object does not load, it is the one in effect.
func stored(set *resource.Set, object resource.ID) *resource.Set {
	found := new(resource.Set)
	for m, value := range source.Resources(set) {
		if m.Kind == object.Kind && m.Namespace == object.Namespace && m.Name == object.Name {
			found = source.Edited(found, source.SetOf(value), new(resource.Set))
		}
	}
	return found
}

// meshOf returns the only mesh that resources of the sets are in; "": there is none.
func meshOf(sets ...*resource.Set) string {
	mesh, several := "", false
	for _, set := range sets {
		for m := range source.Resources(set) {
			several = several || m.Mesh == "" || mesh != "" && mesh != m.Mesh
			mesh = m.Mesh
		}
	}
	if several {
		return ""
	}
	return mesh
}

// compare returns what the edit opens, closes and drains, and the findings that it adds. The
// limits are about parts of the comparison that are left out. If a mesh is given,
// no other is compared.
func (h *handler) compare(ctx context.Context, state *proxied.State, set *resource.Set, mesh string) (findings []diag.Diagnostic, limits []error, err error) {
	after, err := state.View.Options().NewView(ctx, state.View.Kinds(), set)
	if err != nil {
		return nil, nil, err
	}
	meshes := slices.Concat(state.View.Meshes(), after.Meshes())
	if mesh != "" {
		meshes = []string{mesh}
	}
	slices.Sort(meshes)
	meshes = slices.Compact(meshes)
	for _, mesh := range meshes {
		compared := proxied.Comparison{Before: proxied.Side{View: state.View}, After: proxied.Side{View: after}, Mesh: mesh}
		part, limit := compared.Diff(ctx, inspect.Options{}, h.Translators)
		if part == nil {
			return nil, nil, limit
		}
		findings = append(findings, part.Findings(len(meshes) > 1)...)
		if limit != nil {
			limits = append(limits, limit)
		}
	}
	before, err := h.findings(state)
	if err != nil {
		return nil, nil, err
	}
	added, err := findingsOf(ctx, snapshot.NewBuilder(h.Translators, snapshot.Options{}).At(after), set)
	if err != nil {
		return nil, nil, err
	}
	return append(findings, diag.Added(before, added)...), limits, context.Cause(ctx)
}

// found is the findings about a state.
type found struct {
	of   *proxied.State
	find func() ([]diag.Diagnostic, error)
}

// findings returns the findings about a state, which are sought once. They are sought to their
// end even if the answer is late, so that the next one is not.
func (h *handler) findings(state *proxied.State) ([]diag.Diagnostic, error) {
	h.mu.Lock()
	if h.last == nil || h.last.of != state {
		h.last = &found{state, sync.OnceValues(func() ([]diag.Diagnostic, error) {
			return findingsOf(context.Background(), state.Snapshots, state.Set)
		})}
	}
	last := h.last
	h.mu.Unlock()
	return last.find()
}

// findingsOf returns the findings of `check`, errors of proxies among them.
func findingsOf(ctx context.Context, s *snapshot.State, set *resource.Set) ([]diag.Diagnostic, error) {
	answer, err := proxied.NewCheck(ctx, s, set, false)
	if answer == nil {
		return nil, err
	}
	var mistakes diag.Errors
	errors.As(err, &mistakes)
	return append(slices.Clone([]diag.Diagnostic(mistakes)), answer.Findings()...), nil
}

// verdict divides findings into those that refuse the object and warnings.
func (h *handler) verdict(findings []diag.Diagnostic, at string) *verdict {
	v := &verdict{notes: map[string]string{}}
	count := map[diag.Class]int{}
	for _, f := range findings {
		class := f.Code.Class()
		count[class]++
		switch {
		case class == diag.ClassError || h.Refuses(f):
			v.refusing = append(v.refusing, text(f, at))
		case class.IsWarning():
			v.warnings = append(v.warnings, text(f, at))
		}
	}
	for _, class := range []diag.Class{diag.ClassOpens, diag.ClassCloses, diag.ClassDrains} {
		if count[class] > 0 {
			v.notes[string(class)] = strconv.Itoa(count[class])
		}
	}
	return v
}

// text returns a finding in one line that begins with its code. A place in the object itself
// has no position.
func text(f diag.Diagnostic, at string) string {
	if f.Pos.File == at {
		f.Pos = diag.Position{}
	}
	return f.Code.String() + " " + diag.OneLine(f.Error())
}

func (v *verdict) response() *response {
	r := &response{Allowed: len(v.refusing) == 0, Notes: v.notes}
	if !r.Allowed {
		r.Status = &status{http.StatusForbidden, strings.Join(clipped(v.refusing), "\n")}
	}
	r.Warnings = clipped(v.warnings)
	return r
}

// clipped returns the first lines, shortened, and how many more there are.
func clipped(lines []string) []string {
	var out []string
	for i, line := range lines {
		if i == maxWarnings-1 && len(lines) > maxWarnings {
			return append(out, fmt.Sprintf("and %d more; meshmatch diff shows all", len(lines)-i))
		}
		out = append(out, diag.Clip(line, maxWarning))
	}
	return out
}
