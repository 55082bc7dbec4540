package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
)

var (
	errNoFiles    = usagef("no input is given; use -f FILE, -f DIRECTORY or -f -")
	errStdinTwice = usagef("standard input can be given only once")
)

// globals is the flags that every command takes.
type globals struct {
	kinds     *resource.Kinds
	files     []string
	mesh      string
	namespace optional
	output    output
	source    bool
}

// world is the input of a command.
type world struct {
	view *core.View
	set  *resource.Set // what was loaded
	mesh string        // the mesh that the command is about
}

// load reads the files of -f and chooses the mesh.
func (g *globals) load(c *cobra.Command) (*world, error) {
	w, err := g.loadAll(c, g.files)
	if err != nil {
		return nil, err
	}
	w.mesh, err = g.chooseMesh(w.view.Meshes())
	return w, err
}

// loadAll reads files of any number of meshes.
func (g *globals) loadAll(c *cobra.Command, files []string) (*world, error) {
	if len(files) == 0 {
		return nil, errNoFiles
	}
	if repeats(files, resource.Stdin) {
		return nil, errStdinTwice
	}
	loader := resource.Loader{Kinds: g.kinds, Documents: slices.Concat(ocm.Documents(), variant.Documents()), Stdin: c.InOrStdin()}
	set, err := loader.Load(files...)
	if err != nil {
		return nil, err
	}
	view, err := core.NewView(loader.Kinds, set)
	return &world{view: view, set: set}, err
}

func repeats(files []string, name string) bool {
	first := slices.Index(files, name)
	return first >= 0 && slices.Contains(files[first+1:], name)
}

// chooseMesh is --mesh, or "default" where it exists, or the only one.
func (g *globals) chooseMesh(meshes []string) (string, error) {
	switch {
	case g.mesh != "" && !slices.Contains(meshes, g.mesh):
		return "", errors.New(withHint(fmt.Sprintf("there is no mesh %q", g.mesh), diag.DidYouMean(g.mesh, meshes)))
	case g.mesh != "":
		return g.mesh, nil
	case len(meshes) == 0:
		return "", fmt.Errorf("there are no resources in the input; check -f")
	case len(meshes) == 1:
		return meshes[0], nil
	case slices.Contains(meshes, "default"):
		return "default", nil
	}
	return "", fmt.Errorf("there are several meshes; choose one with --mesh: %s", strings.Join(meshes, ", "))
}

// dataplane finds a dataplane by name or namespace/name.
func (g *globals) dataplane(w *world, name string) (*resource.Dataplane, error) {
	return named(g, w.view.Dataplanes(w.mesh), func(d *resource.Dataplane) *resource.Meta { return &d.Meta }, "dataplane", name)
}

// policy finds a policy by its kind and its name or namespace/name.
func (g *globals) policy(w *world, kind, name string) (*resource.Policy, error) {
	ofKind := slices.DeleteFunc(w.view.Policies(w.mesh), func(p *resource.Policy) bool { return p.Type.Name != kind })
	return named(g, ofKind, func(p *resource.Policy) *resource.Meta { return &p.Meta }, kind, name)
}

// named returns the only resource of that name, in the namespace that the name
// begins with or that --namespace has.
func named[T any](g *globals, all []T, meta func(T) *resource.Meta, what, name string) (found T, err error) {
	namespace := g.namespace
	if before, after, qualified := strings.Cut(name, "/"); qualified {
		if namespace.given && namespace.value != before {
			return found, usagef("%s %q is not in --namespace %q; leave one of them out", what, name, namespace.value)
		}
		namespace, name = optional{true, before}, after
	}
	var names, namespaces []string
	matching := 0
	for _, r := range all {
		m := meta(r)
		names = append(names, m.Name)
		if m.Name != name {
			continue
		}
		namespaces = append(namespaces, strconv.Quote(m.Namespace))
		if namespace.admits(m.Namespace) {
			found = r
			matching++
		}
	}
	switch {
	case matching == 1:
		return found, nil
	case matching > 1:
		err = fmt.Errorf("%s %q is in several namespaces; choose one with --namespace, or as NAMESPACE/NAME: %s", what, name, strings.Join(namespaces, ", "))
	case len(namespaces) > 0:
		err = fmt.Errorf("there is no %s %q in namespace %q; it is in %s", what, name, namespace.value, strings.Join(namespaces, ", "))
	default:
		err = errors.New(withHint(fmt.Sprintf("there is no %s %q", what, name), diag.DidYouMean(name, names)))
	}
	var none T
	return none, err
}

func withHint(message, hint string) string {
	if hint == "" {
		return message
	}
	return message + "; " + hint
}

// kindNamed returns the kind of that name or short name, in any letter case.
func kindNamed(kinds *resource.Kinds, name string) (*resource.Kind, error) {
	for _, kind := range kinds.All() {
		if strings.EqualFold(kind.Name, name) || strings.EqualFold(kind.Short, name) {
			return kind, nil
		}
	}
	hint := diag.DidYouMean(name, kinds.Names())
	if hint == "" {
		hint = "the kinds are " + kindNames(kinds)
	}
	return nil, usagef("unknown kind %q; %s", name, hint)
}

// kindNames lists the kinds with their short names.
func kindNames(kinds *resource.Kinds) string {
	names := make([]string, len(kinds.All()))
	for i, kind := range kinds.All() {
		names[i] = kind.Name + " (" + kind.Short + ")"
	}
	return strings.Join(names, ", ")
}
