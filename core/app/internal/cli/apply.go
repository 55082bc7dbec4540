package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/webhook"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// loadApplied reads what -f and the files to apply name. The second world is the first one
// with the resources of those files added or replaced, and without the deleted ones.
func (g *globals) loadApplied(c *cobra.Command, apply, deleted []string) (before, after *world, err error) {
	old, edit, err := g.readBoth(c, apply)
	if err != nil {
		return nil, nil, err
	}
	batch := core.Batch{Upsert: edit}
	for _, name := range deleted {
		id, err := g.deletedID(old, name)
		if err != nil {
			return nil, nil, err
		}
		batch.Delete = append(batch.Delete, id)
	}
	s, err := g.semanticsOf(old, edit)
	if err != nil {
		return nil, nil, err
	}
	if err := webhook.NewControlPlane(g.zone, old, edit).Store(edit, s); err != nil {
		return nil, nil, err
	}
	engine := core.NewEngine(g.kinds, core.Options{Semantics: s})
	if _, err := engine.Apply(c.Context(), core.Batch{Upsert: old}); err != nil {
		return nil, nil, err
	}
	before = &world{view: engine.View(), set: old}
	if _, err := engine.Apply(c.Context(), batch); err != nil {
		return nil, nil, err
	}
	return before, &world{view: engine.View(), set: edit, edited: old}, nil
}

// deletedID returns the identity of the only resource of KIND/[NAMESPACE/]NAME.
func (g *globals) deletedID(set *resource.Set, name string) (resource.ID, error) {
	kind, rest, ok := strings.Cut(name, "/")
	if !ok {
		return resource.ID{}, usagef("--delete must be KIND/NAME or KIND/NAMESPACE/NAME, %q is not", name)
	}
	if k, err := find.Kind(g.kinds, kind); err == nil {
		kind = k.Name
	}
	var found []resource.ID
	var names []string
	for _, id := range identities(set) {
		named := find.IsKindName(kind, id.Kind) || strings.EqualFold(kind, resource.ShortName(g.kinds, id.Kind))
		if !named || g.mesh != "" && id.Mesh != g.mesh && id.Mesh != "" {
			continue
		}
		qualified := id.Namespace + "/" + id.Name
		names = append(names, strings.TrimPrefix(qualified, "/"))
		if rest == id.Name && (g.namespace == nil || *g.namespace == id.Namespace) || rest == qualified {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return resource.ID{}, errors.New(diag.WithHint(fmt.Sprintf("--delete: there is no %s %q", kind, rest), diag.DidYouMean(rest, names)))
	}
	return resource.ID{}, fmt.Errorf("--delete: %s %q is in several namespaces or meshes; write NAMESPACE/NAME, or use --mesh", kind, rest)
}

// identities returns the identity of each resource that an engine has.
func identities(set *resource.Set) []resource.ID {
	var out []resource.ID
	for m := range source.Resources(set) {
		out = append(out, m.ID)
	}
	return out
}
