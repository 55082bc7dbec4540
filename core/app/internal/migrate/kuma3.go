package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Result is the answer of `migrate --to kuma3`.
type Result struct {
	// Documents are the rewritten documents, sorted by identity.
	Documents []Document `json:"documents"`
	// Findings name each part that Kuma 3 reads differently, sorted by position.
	Findings []diag.Diagnostic `json:"findings"`
	// Differences compare the meshes as Kuma 2 reads the input with the meshes as Kuma 3
	// reads the input with the rewritten documents. Meshes without one are left out.
	Differences []Difference `json:"differences"`
}

// Document is a rewritten document.
type Document struct {
	Kind      string          `json:"kind"`
	Mesh      string          `json:"mesh,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
	Name      string          `json:"name"`
	Edits     []string        `json:"edits"` // paths of the fields that were rewritten
	Source    json.RawMessage `json:"document"`
}

// Findings returns what Kuma 3 reads differently, sorted by position. The view reads the
// resources of the set, which has its sources, by semantics.Kuma.
func Findings(view *core.View, set *resource.Set) ([]diag.Diagnostic, error) {
	r := newRewriter(view, set)
	err := r.rewrite()
	return diag.Sorted(r.findings), err
}

// Kuma3 rewrites the documents of a set for Kuma 3, and compares the result with the view,
// which reads the set by semantics.Kuma. The loader, which has read the set with its
// sources, reads the result. Next to the result there may be the errors of
// diff.New; a nil result has an error of the load or of the context.
func Kuma3(ctx context.Context, loader resource.Loader, view *core.View, set *resource.Set) (*Result, error) {
	r := newRewriter(view, set)
	if err := r.rewrite(); err != nil {
		return nil, err
	}
	return r.proven(ctx, loader)
}

// rewriter edits the documents of a set.
type rewriter struct {
	view      *core.View
	set       *resource.Set
	documents map[diag.Position]*document
	labelsOf  map[resource.ID]resource.Tags // of dataplanes, after the rewrite
	findings  []diag.Diagnostic
	err       error // the first one of a source
}

func newRewriter(view *core.View, set *resource.Set) *rewriter {
	return &rewriter{view: view, set: set, documents: map[diag.Position]*document{}, labelsOf: map[resource.ID]resource.Tags{}}
}

// rewrite edits every document.
func (r *rewriter) rewrite() error {
	for _, d := range r.set.Dataplanes {
		r.dataplane(d)
	}
	for _, m := range r.set.Meshes {
		r.mesh(m)
	}
	for _, o := range r.set.Objects {
		r.object(o)
	}
	for _, p := range r.set.Policies {
		r.policy(p)
	}
	return r.err
}

// document returns the document of a resource; nil if the set does not have its source.
func (r *rewriter) document(m *resource.Meta) *document {
	d, known := r.documents[m.Pos]
	if known {
		return d
	}
	if source, has := r.set.Sources[m.Pos]; has {
		var err error
		if d, err = newDocument(m, source); err != nil && r.err == nil {
			r.err = err
		}
	}
	r.documents[m.Pos] = d
	return d
}

// find adds a finding about a field of a resource.
func (r *rewriter) find(code diag.Code, pos diag.Position, path, hint, format string, args ...any) {
	r.findings = append(r.findings, diag.Diagnostic{Code: code, Pos: pos, Path: path, What: fmt.Sprintf(format, args...), Hint: hint})
}

const rewritten = "`migrate` rewrites it"

// hintOf returns what to do about a part.
func hintOf(done bool, otherwise string) string {
	if done {
		return rewritten
	}
	return otherwise
}

// edited returns the documents with edits, sorted by identity.
func (r *rewriter) edited() []*document {
	var out []*document
	for _, d := range r.documents {
		if d != nil && len(d.edits) > 0 {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b *document) int { return a.meta.ID.Compare(b.meta.ID) })
	return out
}
