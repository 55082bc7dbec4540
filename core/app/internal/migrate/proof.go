package migrate

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Difference is what differs in a mesh.
type Difference struct {
	Mesh string `json:"mesh"`
	// Groups are the dataplanes whose confs differ. Confs of permissions are not among
	// them: Access compares what they decide.
	Groups []diff.Group       `json:"groups"`
	Access []AccessDifference `json:"access"` // sorted by dataplane, inbound and client
}

// AccessDifference is a request that an inbound decides differently: of a dataplane of the
// mesh, with its identity and its tags, or of another client.
type AccessDifference struct {
	Dataplane string          `json:"dataplane"` // KRI
	Inbound   string          `json:"inbound"`
	Opens     bool            `json:"opens"`
	Witness   inspect.Witness `json:"witness"`
	Name      string          `json:"-"` // NAMESPACE/NAME of the dataplane
}

// empty reports whether nothing differs.
func (d *Difference) empty() bool { return len(d.Groups)+len(d.Access) == 0 }

// proven compares the views, and leaves out rewritten permissions that open an inbound.
func (r *rewriter) proven(ctx context.Context, loader resource.Loader) (*Result, error) {
	documents := r.edited()
	differences, err := r.compare(ctx, loader, documents)
	if differences == nil && err != nil {
		return nil, err
	}
	if opens(differences) {
		if documents, err = r.withoutOpening(ctx, loader, documents); err != nil {
			return nil, err
		}
		if differences, err = r.compare(ctx, loader, documents); differences == nil && err != nil {
			return nil, err
		}
	}
	result := &Result{Documents: []Document{}, Differences: []Difference{}, Findings: diag.Sorted(r.findings)}
	for _, d := range withMoved(documents) {
		source, errSource := d.MarshalJSON()
		if errSource != nil {
			return nil, errSource
		}
		m := d.meta
		result.Documents = append(result.Documents, Document{Kind: m.Kind, Mesh: m.Mesh, Namespace: m.Namespace, Name: m.Name, Edits: d.edits, Source: source})
	}
	for _, d := range differences {
		if !d.empty() {
			result.Differences = append(result.Differences, d)
		}
	}
	return result, err
}

// withoutOpening returns the documents without permissions that open an inbound: that allow a
// request which Kuma 2 denies, and Kuma 3 without them.
func (r *rewriter) withoutOpening(ctx context.Context, loader resource.Loader, documents []*document) ([]*document, error) {
	var kept, permissions []*document
	for _, d := range documents {
		if d.meta.Kind == permission.KindName {
			permissions = append(permissions, d)
		} else {
			kept = append(kept, d)
		}
	}
	without, err := r.load(ctx, loader, kept)
	if err != nil {
		return nil, err
	}
	for _, d := range permissions {
		more := append(slices.Clone(kept), d)
		with, err := r.load(ctx, loader, more)
		if err != nil {
			return nil, err
		}
		if why := r.opening(without, with, d.meta.Mesh); why != "" {
			r.find(diag.OpensInKuma3, d.meta.Pos, "spec.from", "write the rules by hand, and compare them with `diff`",
				"as rules it would open an inbound, so it is left as it is, and Kuma 3 ignores it: %s", why)
			continue
		}
		kept, without = more, with
	}
	slices.SortFunc(kept, func(a, b *document) int { return a.meta.ID.Compare(b.meta.ID) })
	return kept, nil
}

// opening describes a request of a client that a view allows, although the view without a
// document and the view of the input deny it; empty if there is none. A question that exceeds
// a limit may be one.
func (r *rewriter) opening(without, with *core.View, mesh string) string {
	clients := r.callers(mesh)
	left := access.Shared(comparisonWork, allWork)
	seen := map[string]bool{}
	for _, d := range r.view.Dataplanes(mesh) {
		old, next := without.Dataplane(d.ID), with.Dataplane(d.ID)
		for i := range d.Inbounds {
			permissions := inspect.Permissions(with, next, i)
			lists := []*access.List{
				access.ListOf(permissions), access.ListOf(inspect.Permissions(without, old, i)), access.ListOf(inspect.Permissions(r.view, d, i)),
			}
			key := fmt.Sprint(permissions.Protocol, "\x00", lists[0].Key(), "\x00", lists[1].Key(), "\x00", lists[2].Key())
			if seen[key] {
				continue
			}
			seen[key] = true
			for k := range clients {
				space := &access.Space{Protocol: permissions.Protocol, Client: &clients[k]}
				witness, err := access.Opens(space, lists[0], lists[1], lists[2], left)
				inbound := fmt.Sprintf("inbound %s of %s", find.InboundName(d, i), d.Name)
				switch {
				case err != nil:
					return inbound + ": " + err.Error()
				case witness != nil:
					request, _ := conf.Marshal(inspect.NewWitness(witness)) // it has texts only
					return fmt.Sprintf("%s would allow %s", inbound, request)
				}
			}
		}
	}
	return ""
}

// withMoved returns documents with those that have a part of them, sorted by identity.
func withMoved(documents []*document) (all []*document) {
	for _, d := range documents {
		if all = append(all, d); d.moved != nil {
			all = append(all, d.moved)
		}
	}
	slices.SortStableFunc(all, func(a, b *document) int { return a.meta.ID.Compare(b.meta.ID) })
	return all
}

// opens reports whether an access decision opens an inbound.
func opens(differences []Difference) bool {
	return slices.ContainsFunc(differences, func(d Difference) bool {
		return slices.ContainsFunc(d.Access, func(a AccessDifference) bool { return a.Opens })
	})
}

// compare loads the set with some documents instead of their originals, and compares each
// mesh. The result is nil if the load fails. If err and the result are both set, a limit left
// out a part of the comparison.
func (r *rewriter) compare(ctx context.Context, loader resource.Loader, documents []*document) ([]Difference, error) {
	after, err := r.load(ctx, loader, documents)
	if err != nil {
		return nil, err
	}
	out := []Difference{}
	var first error
	for _, mesh := range r.view.Meshes() {
		changed, err := diff.New(r.view, after, mesh, inspect.Options{})
		if changed == nil {
			return nil, err
		}
		difference := Difference{Mesh: mesh, Groups: []diff.Group{}}
		for _, group := range changed.Groups {
			if group.Changes = otherChanges(group.Changes); len(group.Changes) > 0 {
				difference.Groups = append(difference.Groups, group)
			}
		}
		var errAccess error
		difference.Access, errAccess = r.access(after, mesh)
		if first == nil {
			first = cmp.Or(errAccess, err)
		}
		out = append(out, difference)
	}
	return out, first
}

// otherChanges returns the changes that are not about permissions, without those that say the
// same twice: a field of `from` for any client, and of a rule for any request.
func otherChanges(changes []diff.ConfChange) []diff.ConfChange {
	anyClient := func(c *diff.ConfChange) bool {
		return c.After == nil && c.Place.Selector != nil && len(*c.Place.Selector) == 0
	}
	anyRequest := func(c *diff.ConfChange) bool {
		return c.Before == nil && c.Place.Match != nil && c.Place.Match.Empty()
	}
	same := func(a, b *diff.ConfChange) bool {
		return anyClient(a) && anyRequest(b) && a.Kind == b.Kind && a.Field == b.Field &&
			samePoint(a.Place, b.Place) && bytes.Equal(a.Before, b.After)
	}
	return slices.DeleteFunc(slices.Clone(changes), func(c diff.ConfChange) bool {
		return c.Kind == permission.KindName || slices.ContainsFunc(changes, func(o diff.ConfChange) bool { return same(&c, &o) || same(&o, &c) })
	})
}

// samePoint reports whether two places are parts of the same inbound or listener.
func samePoint(a, b inspect.Place) bool {
	a.Selector, a.Match, b.Selector, b.Match = nil, nil, nil, nil
	return a.String() == b.String()
}

// access returns the requests that inbounds of a mesh decide differently, at most one of
// each client and direction. The clients are the dataplanes of the mesh, a client of each
// trust domain that is none of them, and one without a SPIFFE ID.
func (r *rewriter) access(after *core.View, mesh string) ([]AccessDifference, error) {
	clients := r.callers(mesh)
	known := map[string][]access.Difference{}
	var out []AccessDifference
	var limit error
	left := access.Shared(comparisonWork, allWork)
	for _, d := range r.view.Dataplanes(mesh) {
		next := after.Dataplane(d.ID)
		if next == nil {
			continue
		}
		for i := range d.Inbounds {
			permissions := inspect.Permissions(r.view, d, i)
			protocol, old := permissions.Protocol, access.ListOf(permissions)
			now := access.ListOf(inspect.Permissions(after, next, i))
			key := fmt.Sprint(protocol, "\x00", old.Key(), "\x00", now.Key())
			found, examined := known[key]
			if !examined {
				for k := range clients {
					differences, err := access.Compare(&access.Space{Protocol: protocol, Client: &clients[k]}, old, now, left)
					if err != nil {
						limit = cmp.Or(limit, fmt.Errorf("permissions of %s of %s: %w", find.InboundName(d, i), d.Name, err))
					}
					found = append(found, oneOfEach(differences)...)
				}
				known[key] = found
			}
			for _, difference := range found {
				out = append(out, AccessDifference{
					Dataplane: inspect.DataplaneKRI(r.view, d), Inbound: find.InboundName(d, i), Opens: difference.After.Allow,
					Witness: inspect.NewWitness(difference.Witness), Name: strings.TrimPrefix(d.Namespace+"/"+d.Name, "/"),
				})
			}
		}
	}
	return out, limit
}

// What exceeds these limits is unknown, which is an error.
const (
	comparisonWork = 1 << 22
	allWork        = 1 << 26
)

// oneOfEach returns the first difference that opens, and the first that closes.
func oneOfEach(differences []access.Difference) []access.Difference {
	var out []access.Difference
	for _, opens := range []bool{true, false} {
		if i := slices.IndexFunc(differences, func(d access.Difference) bool { return d.After.Allow == opens }); i >= 0 {
			out = append(out, differences[i])
		}
	}
	return out
}

// callers returns the clients whose requests are compared.
func (r *rewriter) callers(mesh string) []access.KnownClient {
	known, _ := r.clients(mesh)
	out := []access.KnownClient{{}}
	var domains []string
	for _, c := range known {
		for _, tags := range c.tags {
			out = append(out, access.KnownClient{SpiffeID: c.id, Tags: tags})
		}
		if len(c.tags) == 0 {
			out = append(out, access.KnownClient{SpiffeID: c.id})
		}
		if !slices.Contains(domains, c.domain) {
			domains = append(domains, c.domain)
		}
	}
	for _, domain := range domains {
		other := "spiffe://" + domain + "/other"
		for slices.ContainsFunc(known, func(c *client) bool { return strings.HasPrefix(c.id, other) }) {
			other += "-other"
		}
		out = append(out, access.KnownClient{SpiffeID: other})
	}
	return out
}

// load returns the view of Kuma 3.
func (r *rewriter) load(ctx context.Context, loader resource.Loader, documents []*document) (*core.View, error) {
	edited := map[diag.Position]*document{}
	for _, d := range documents {
		edited[d.meta.Pos] = d
	}
	inOrder := func(a, b diag.Position) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	}
	var input []byte
	for _, pos := range slices.SortedFunc(maps.Keys(r.set.Sources), inOrder) {
		source := []byte(r.set.Sources[pos])
		if d := edited[pos]; d != nil {
			var err error
			if source, err = d.MarshalJSON(); err != nil {
				return nil, err
			}
			if d.moved != nil {
				moved, err := d.moved.MarshalJSON()
				if err != nil {
					return nil, err
				}
				source = append(append(source, "\n---\n"...), moved...)
			}
		}
		input = append(append(input, source...), "\n---\n"...)
	}
	set, err := loader.Decode(ctx, resource.Input{Name: "rewritten", Data: input})
	if err != nil {
		return nil, fmt.Errorf("the rewritten documents do not load: %w", err)
	}
	return core.Options{Semantics: semantics.Kuma3}.NewView(ctx, r.view.Kinds(), set)
}
