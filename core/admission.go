package core

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/mesh"
	"github.com/meshmatch/meshmatch/core/resource"
)

// admit checks the resources of a batch as the loader checks the resources of files,
// whether they were decoded or made in Go (SPEC 1.2). The error is a [diag.Errors] with
// every error of the batch. A resource without a position is named by its identity. If the
// code of a kind panics, the error is an [ErrPanic]; if the context ends, it is the
// context's cause.
//
// A loader has validated what it decoded. admit validates it again, because a program may
// change a resource in between, even a field of a Conf. A proof that nothing changed would
// have to read the whole resource too. A loader could give the engine a set that no
// program sees; but then no program could compare, filter or report resources before it
// applies them. So the second validation is made cheap instead: a valid resource costs no
// error messages, and a list of outbounds is validated once for all dataplanes that share
// it (see [resource.Prober]).
//
// Sorted reports that the dataplanes and the policies are known to be sorted by identity.
func admit(ctx context.Context, kinds *resource.Kinds, in diag.Reading, b *Batch) (sorted bool, err error) {
	set := b.upserts()
	a := admission{kinds: kinds, in: in}
	a.In = in
	defer a.running.Recover(&err) // Validate methods of kinds
	allValid, sorted, err := a.validateInParallel(ctx, set)
	if err != nil {
		return false, err
	}
	dataplanes, policies := set.Dataplanes, set.Policies
	if sorted && len(b.Delete) == 0 {
		// A list that a loader sorted has no identity twice. The table of those that were
		// seen would take a fifth of the time.
		dataplanes, policies = nil, nil
	}
	a.seen.expected = len(dataplanes) + len(policies) + len(b.Delete)
	admitAll(&a, set.Meshes, resource.MeshKind, false)
	admitAll(&a, dataplanes, resource.DataplaneKind, allValid)
	for _, p := range policies {
		switch {
		case allValid:
			a.once(&p.Meta)
		case a.present(p != nil, "a policy"):
			a.policy(p)
		}
	}
	for _, o := range set.Objects {
		if a.present(o != nil && !reflect.ValueOf(o).IsNil(), "an object") {
			a.valid(o.Identity(), o.Validate)
		}
	}
	for _, d := range set.Documents {
		if a.present(d != nil, "a document") {
			a.document(d)
		}
	}
	for _, id := range b.Delete {
		a.deletion(id)
	}
	for _, d := range set.Depending {
		if d.In&in != 0 && !d.Warning {
			a.sink.Error(d.Diagnostic)
		}
	}
	a.sink.Choose(in)
	return sorted, a.sink.Err()
}

// admitAll checks the resources of a kind. If allValid is set, all are known to be
// valid.
func admitAll[T any, R interface {
	*T
	Identity() *resource.Meta
	Validate(*diag.At)
}](a *admission, list []R, kind string, allValid bool) {
	for _, r := range list {
		switch {
		case allValid:
			a.once(r.Identity())
		case a.present(r != nil, "a "+kind):
			a.valid(r.Identity(), r.Validate)
		}
	}
}

type admission struct {
	prober
	kinds *resource.Kinds
	in    diag.Reading // how the engine reads documents
	seen  identities
	sink  diag.Sink
}

// prober is what one worker needs to validate resources.
type prober struct {
	resource.Prober
	running mesh.Guard
}

// parallelAdmission is the smallest number of dataplanes and policies that several
// workers validate first. A resource takes about 1 µs, as long as starting a worker.
const parallelAdmission = 256

// validateInParallel validates the dataplanes and policies of a large batch by several workers. It
// reports whether all are valid, and whether each list is sorted by identity, each identity once.
// It returns false for a small batch.
func (a *admission) validateInParallel(ctx context.Context, set *resource.Set) (allValid, sorted bool, err error) {
	n := len(set.Dataplanes) + len(set.Policies)
	if n < parallelAdmission {
		return false, false, nil
	}
	var failed, unsorted atomic.Bool
	err = mesh.InParallel(runtime.GOMAXPROCS(0), func(worker, workers int) (err error) {
		var p prober
		p.In = a.in
		defer p.running.Recover(&err) // Validate methods of kinds
		for i := n * worker / workers; i < n*(worker+1)/workers && !failed.Load(); i++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var ok, follows bool
			if at := i - len(set.Dataplanes); at < 0 {
				d := set.Dataplanes[i]
				ok = d != nil && !p.FailsDataplane(d)
				follows = ok && isAscending(set.Dataplanes, i)
			} else if policy := a.ofEngine(set.Policies[at]); policy != nil {
				p.running.Code = policy.Type.Name
				ok = !p.Fails(policy.Validate)
				follows = isAscending(set.Policies, at)
			}
			if !ok {
				failed.Store(true)
			}
			if !follows {
				unsorted.Store(true)
			}
		}
		return nil
	})
	allValid = !failed.Load()
	return allValid, allValid && !unsorted.Load(), err
}

// isAscending reports whether the identity of resource i of a list, which is not nil, is
// greater than the identity of the previous resource.
func isAscending[T any, R interface {
	*T
	Identity() *resource.Meta
}](list []R, i int) bool {
	return i == 0 || list[i-1] != nil && list[i-1].Identity().ID.Compare(list[i].Identity().ID) < 0
}

func (a *admission) errorf(code diag.Code, m *resource.Meta, path, hint, format string, args ...any) {
	a.sink.Error(diag.Diagnostic{Code: code, Pos: placeOf(m), Path: path, What: fmt.Sprintf(format, args...), Hint: hint})
}

func placeOf(m *resource.Meta) diag.Position {
	if m.Pos != (diag.Position{}) {
		return m.Pos
	}
	return diag.Position{File: m.ID.String()}
}

func (a *admission) present(ok bool, what string) bool {
	if !ok {
		a.sink.Error(diag.Diagnostic{Code: diag.BadResource, Pos: diag.Position{File: "batch"}, What: what + " is nil"})
	}
	return ok
}

// valid runs a resource's Validate method, and checks that no other resource has its
// identity.
func (a *admission) valid(m *resource.Meta, validate func(*diag.At)) {
	if a.Fails(validate) {
		validate(m.Place(&a.sink))
	} else {
		a.once(m)
	}
}

// ofEngine returns a policy with the engine's own kind of the same name: two calls make
// two equal kinds, but an engine merges Confs of one type only. It returns nil for nil
// and for a policy of an unknown kind.
func (a *admission) ofEngine(p *resource.Policy) *resource.Policy {
	if p == nil || p.Type == nil {
		return nil
	}
	switch kind := a.kinds.Lookup(p.Type.Name); kind {
	case nil:
		return nil
	case p.Type:
		return p
	default:
		checked := *p
		checked.Type = kind
		return &checked
	}
}

func (a *admission) policy(p *resource.Policy) {
	checked := a.ofEngine(p)
	if checked == nil {
		a.errorf(diag.UnknownKind, &p.Meta, "type", diag.DidYouMean(p.Kind, a.kinds.Names()), "%q is not one of the kinds of this engine", p.Kind)
		return
	}
	a.running.Code = p.Kind
	a.valid(&p.Meta, checked.Validate)
}

// document checks the identity of a document, which belongs to no mesh.
func (a *admission) document(d *resource.Document) {
	switch {
	case d.Name == "":
		a.errorf(diag.EmptyValue, &d.Meta, "name", "", "a resource's name must not be empty")
	case d.Mesh != "":
		a.errorf(diag.WrongMesh, &d.Meta, "mesh", "", "must be empty for %s", d.Kind)
	default:
		a.once(&d.Meta)
		ocm.Validate(diag.Root(diag.GoValue(d.ID.String()), &a.sink), d)
	}
}

// once checks that no earlier resource has the identity.
func (a *admission) once(m *resource.Meta) {
	if first := a.seen.add(m); first != m {
		a.errorf(diag.DuplicateResource, m, "name", "the first one is at "+placeOf(first).String(), "duplicate %s", m.ID.String())
	}
}

// identities has the first resource of each identity. A batch of one resource needs no table.
type identities struct {
	first    *resource.Meta
	expected int
	all      map[resource.ID]*resource.Meta // nil: only first
}

// add returns the first resource with the identity of m, which is m itself if it is new.
func (s *identities) add(m *resource.Meta) *resource.Meta {
	if s.first == nil {
		s.first = m
		return m
	}
	if s.all == nil {
		s.all = make(map[resource.ID]*resource.Meta, s.expected)
		s.all[s.first.ID] = s.first
	}
	if known := s.all[m.ID]; known != nil {
		return known
	}
	s.all[m.ID] = m
	return m
}

func (a *admission) deletion(id resource.ID) {
	m := &resource.Meta{ID: id}
	if !a.hasKind(id) {
		a.errorf(diag.UnknownKind, m, "", diag.DidYouMean(id.Kind, a.kinds.Names()), "unknown kind %q", id.Kind)
		return
	}
	if id.Kind == resource.MeshKind {
		a.mesh(m)
	}
	if a.seen.add(m) != m {
		a.errorf(diag.BadDeletion, m, "", "one batch does one thing with a resource", "it is deleted, and upserted or deleted again")
	}
}

// hasKind reports whether an engine can have a resource with the identity.
func (a *admission) hasKind(id resource.ID) bool {
	switch id.Kind {
	case resource.MeshKind, resource.DataplaneKind:
		return true
	}
	if resource.IsObject(id.Kind) {
		return resource.IsGlobal(id.Kind) == (id.Mesh == "")
	}
	return a.kinds.Lookup(id.Kind) != nil || id.Mesh == "" && ocm.IsKind(id.Kind)
}

// mesh checks the identity of a Mesh except for its name.
func (a *admission) mesh(m *resource.Meta) {
	switch {
	case m.Mesh != m.Name:
		a.errorf(diag.WrongMesh, m, "name", "", "a Mesh is in the mesh of its own name, not in %q", m.Mesh)
	case m.Namespace != "":
		a.errorf(diag.FieldNotAllowed, m, "namespace", "", "a Mesh has no namespace")
	}
}
