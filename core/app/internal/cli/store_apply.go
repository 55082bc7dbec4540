package cli

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// storeWrite is the flags of the commands that write to a store.
type storeWrite struct {
	to     string
	dryRun bool
	prune  bool
}

func (w *storeWrite) register(c *cobra.Command) {
	c.Flags().StringVar(&w.to, "to", "", "the `STORE` to write to, as etcd://HOST:PORT/PREFIX")
	c.Flags().BoolVar(&w.dryRun, "dry-run", false, "print what would change, and write nothing")
}

func newApply(g *globals) *cobra.Command {
	var w storeWrite
	c := withHelp("apply", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return w.apply(g, c) },
	})
	w.register(c)
	c.Flags().BoolVar(&w.prune, "prune", false, "also delete the resources of the input's meshes that the input does not have")
	return c
}

func newDelete(g *globals) *cobra.Command {
	var w storeWrite
	c := withHelp("delete", &cobra.Command{
		Args: exactly("KIND", "NAME"),
		RunE: func(c *cobra.Command, args []string) error { return w.delete(g, c, args[0], args[1]) },
	})
	w.register(c)
	return c
}

// storedChange is one change of a store.
type storedChange struct {
	Action string `json:"action"` // create, replace or delete
	Kind   string `json:"kind"`
	Mesh   string `json:"mesh,omitempty"`
	// Namespace and Name are parts of the identity.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`

	change etcd.Write
}

// storedChanges is the answer of apply and delete.
type storedChanges struct {
	Changes []storedChange `json:"changes"`
	// Revision is the revision with the changes; absent if nothing was written.
	Revision int64 `json:"revision,omitempty"`
	DryRun   bool  `json:"dryRun,omitempty"`
}

// open returns the store of --to.
func (w *storeWrite) open(g *globals) (*etcd.Store, error) {
	if w.to == "" {
		return nil, usagef("no store is given; use --to etcd://HOST:PORT/PREFIX")
	}
	if !isStore(w.to) {
		return nil, usagef("--to %q is not a store that can be written; use etcd://HOST:PORT/PREFIX", w.to)
	}
	return g.store.etcd(w.to)
}

func (w *storeWrite) apply(g *globals, c *cobra.Command) error {
	if err := g.refuseKeepGoing("apply"); err != nil {
		return err
	}
	store, err := w.open(g)
	if err != nil {
		return err
	}
	g.keepSources = true
	set, err := g.read(c, g.files)
	if err != nil {
		return err
	}
	if len(identities(set)) == 0 {
		return errors.New("there are no resources in the input; check -f")
	}
	read, err := store.Read(c.Context())
	if err != nil {
		return err
	}
	answer, err := w.changes(set, read)
	if err != nil {
		return err
	}
	if err := g.checkTogether(c, set, read, answer); err != nil {
		return err
	}
	return w.write(g, c, store, read, answer)
}

// changes returns what differs between a set and what is stored, in the order of identities.
func (w *storeWrite) changes(set *resource.Set, read *etcd.Stored) (*storedChanges, error) {
	stored := map[resource.ID][]byte{}
	for _, o := range read.Objects {
		stored[o.ID] = o.Data
	}
	answer := &storedChanges{Changes: []storedChange{}, DryRun: w.dryRun}
	given, meshes := map[resource.ID]bool{}, map[string]bool{}
	for m := range source.Resources(set) {
		document, there := set.Sources[m.Pos]
		if !there {
			return nil, fmt.Errorf("%s: the document of %s is not kept", m.Pos, m.ID)
		}
		given[m.ID], meshes[m.Mesh] = true, true
		old, exists := stored[m.ID]
		switch {
		case !exists:
			answer.add("create", m.ID, document)
		case !sameJSON(old, document):
			answer.add("replace", m.ID, document)
		}
	}
	if w.prune {
		for id := range stored {
			if !given[id] && id.Name != "" && id.Mesh != "" && meshes[id.Mesh] {
				answer.add("delete", id, nil)
			}
		}
	}
	slices.SortFunc(answer.Changes, func(a, b storedChange) int { return a.change.ID.Compare(b.change.ID) })
	return answer, nil
}

func (a *storedChanges) add(action string, id resource.ID, document []byte) {
	a.Changes = append(a.Changes, storedChange{action, id.Kind, id.Mesh, id.Namespace, id.Name, etcd.Write{ID: id, Document: document}})
}

// sameJSON reports whether two documents are equal, regardless of the order of their
// fields and of white space.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b))
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}

// checkTogether checks what would be stored as a whole. An object that does not load
// already is reported and does not prevent the change, which may mend others.
func (g *globals) checkTogether(c *cobra.Command, set *resource.Set, read *etcd.Stored, changes *storedChanges) error {
	replaced := map[resource.ID]bool{}
	for m := range source.Resources(set) {
		replaced[m.ID] = true
	}
	for i := range changes.Changes {
		replaced[changes.Changes[i].change.ID] = true
	}
	var inputs []resource.Input
	var misplaced diag.Sink
	byAt := map[string]*source.Object{}
	for i := range read.Objects {
		o := &read.Objects[i]
		switch {
		case o.Flaw != "": // no reader uses it
			source.CheckKey(nil, o, &misplaced)
		case !replaced[o.ID]:
			byAt[o.At] = o
			inputs = append(inputs, resource.Input{Name: o.At, Data: o.Data})
		}
	}
	loader := resource.Loader{Kinds: g.kinds, Documents: documentTypes(), KeepGoing: true}
	rest, err := loader.Decode(c.Context(), inputs...)
	var broken diag.Errors
	switch {
	case errors.As(err, &broken):
		rest = new(resource.Set)
	case err != nil:
		return err
	}
	for _, left := range rest.LeftOut {
		broken = append(broken, left.Errors...)
	}
	for m := range source.Resources(rest) {
		source.CheckKey(m, byAt[m.Pos.File], &misplaced)
	}
	var keys diag.Errors
	if errors.As(misplaced.Err(), &keys) {
		broken = append(broken, keys...)
	}
	for _, e := range broken {
		fmt.Fprintf(c.ErrOrStderr(), "stored already: %s\n", e.Error())
	}
	all := &resource.Set{
		Meshes: slices.Concat(rest.Meshes, set.Meshes), Dataplanes: slices.Concat(rest.Dataplanes, set.Dataplanes),
		Policies: slices.Concat(rest.Policies, set.Policies), Objects: slices.Concat(rest.Objects, set.Objects),
		Documents: slices.Concat(rest.Documents, set.Documents),
	}
	if err := all.Sort(); err != nil {
		return err
	}
	s, err := g.servedSemantics(all)
	if err != nil {
		return err
	}
	_, err = core.Options{Semantics: s}.NewView(c.Context(), g.kinds, all)
	return err
}

func (w *storeWrite) delete(g *globals, c *cobra.Command, kind, name string) error {
	store, err := w.open(g)
	if err != nil {
		return err
	}
	found, err := find.ResourceKind(g.kinds, documentTypes(), kind)
	if err != nil {
		return err
	}
	read, err := store.Read(c.Context())
	if err != nil {
		return err
	}
	var ids []resource.ID
	var names []string
	for _, o := range read.Objects {
		id := o.ID
		if id.Name == "" || !find.IsKindName(found, id.Kind) || g.mesh != "" && id.Mesh != g.mesh {
			continue
		}
		names = append(names, id.Name)
		if name == id.Name && (g.namespace == nil || *g.namespace == id.Namespace) || name == id.Namespace+"/"+id.Name {
			ids = append(ids, id)
		}
	}
	switch len(ids) {
	case 0:
		return errors.New(diag.WithHint(fmt.Sprintf("there is no %s %q in %s", found, name, store), diag.DidYouMean(name, names)))
	case 1:
	default:
		return fmt.Errorf("%s %q is in several namespaces or meshes; write NAMESPACE/NAME, or use --mesh", found, name)
	}
	answer := &storedChanges{DryRun: w.dryRun}
	answer.add("delete", ids[0], nil)
	return w.write(g, c, store, read, answer)
}

// write writes changes, and prints them.
func (w *storeWrite) write(g *globals, c *cobra.Command, store *etcd.Store, read *etcd.Stored, answer *storedChanges) error {
	defer store.Close()
	if !w.dryRun {
		changes := lists.MapPointers(answer.Changes, func(s *storedChange) etcd.Write { return s.change })
		revision, err := store.Write(c.Context(), read, changes)
		if err != nil {
			return err
		}
		if len(changes) > 0 || read.Interrupted {
			answer.Revision = revision
		}
	}
	return g.print(c, answer, func(p *page) {
		for i := range answer.Changes {
			p.line("%s %s", answer.Changes[i].Action, answer.Changes[i].change.ID)
		}
		switch {
		case len(answer.Changes) == 0 && read.Interrupted && !w.dryRun:
			p.line("an interrupted apply is complete: revision %d", answer.Revision)
		case len(answer.Changes) == 0:
			p.line("nothing changes")
		case w.dryRun:
			p.line("%s; nothing is written", diag.Count(len(answer.Changes), "change"))
		default:
			p.line("%s, in revision %d", diag.Count(len(answer.Changes), "change"), answer.Revision)
		}
	})
}
