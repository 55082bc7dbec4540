package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

var (
	errNoFiles    = usagef("say what to read: -f FILE, -f DIRECTORY or -f -")
	errStdinTwice = usagef("standard input can be read once only")
)

// globals is the flags that every command takes.
type globals struct {
	files     []string
	mesh      string
	namespace optional
	output    output
}

// world is the input of a command.
type world struct {
	view *core.View
	mesh string
}

// load reads what -f names.
func (g *globals) load(c *cobra.Command) (*world, error) {
	if len(g.files) == 0 {
		return nil, errNoFiles
	}
	view, err := loadView(c, g.files)
	if err != nil {
		return nil, err
	}
	mesh, err := g.chooseMesh(view.Meshes())
	if err != nil {
		return nil, err
	}
	return &world{view: view, mesh: mesh}, nil
}

func loadView(c *cobra.Command, files []string) (*core.View, error) {
	if repeats(files, resource.Stdin) {
		return nil, errStdinTwice
	}
	loader := resource.Loader{Kinds: kinds.All(), Stdin: c.InOrStdin()}
	set, err := loader.Load(files...)
	if err != nil {
		return nil, err
	}
	return core.NewView(loader.Kinds, set)
}

func repeats(files []string, name string) bool {
	first := slices.Index(files, name)
	return first >= 0 && slices.Contains(files[first+1:], name)
}

// chooseMesh is --mesh, or "default" where it exists, or the only one.
func (g *globals) chooseMesh(meshes []string) (string, error) {
	switch {
	case g.mesh != "" && !slices.Contains(meshes, g.mesh):
		return "", errors.New(withHint(fmt.Sprintf("there is no mesh %q", g.mesh), strict.DidYouMean(g.mesh, meshes)))
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

// dataplane finds a dataplane by name.
func (g *globals) dataplane(w *world, name string) (*resource.Dataplane, error) {
	return named(g, w.view.Dataplanes(w.mesh), func(d *resource.Dataplane) *resource.Meta { return &d.Meta }, "dataplane", name)
}

// policy finds a policy by kind and name.
func (g *globals) policy(w *world, kind, name string) (*resource.Policy, error) {
	ofKind := slices.DeleteFunc(w.view.Policies(w.mesh), func(p *resource.Policy) bool { return p.Type.Name != kind })
	return named(g, ofKind, func(p *resource.Policy) *resource.Meta { return &p.Meta }, kind, name)
}

// named returns the only resource of that name, or tells how to say which one
// is meant.
func named[T any](g *globals, all []T, meta func(T) *resource.Meta, what, name string) (found T, err error) {
	var names, namespaces, matching []string
	for _, r := range all {
		m := meta(r)
		names = append(names, m.Name)
		if m.Name != name {
			continue
		}
		namespaces = append(namespaces, strconv.Quote(m.Namespace))
		if g.namespace.admits(m.Namespace) {
			found, matching = r, append(matching, m.Namespace)
		}
	}
	switch {
	case len(matching) == 1:
		return found, nil
	case len(matching) > 1:
		err = fmt.Errorf("%s %q is in several namespaces; choose one with --namespace: %s", what, name, strings.Join(namespaces, ", "))
	case len(namespaces) > 0:
		err = fmt.Errorf("there is no %s %q in namespace %q; it is in %s", what, name, g.namespace.value, strings.Join(namespaces, ", "))
	default:
		err = errors.New(withHint(fmt.Sprintf("there is no %s %q", what, name), strict.DidYouMean(name, names)))
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

// kindNamed checks a --kind.
func kindNamed(view *core.View, name string) (*resource.Kind, error) {
	if kind := view.Kinds().Lookup(name); kind != nil {
		return kind, nil
	}
	names := view.Kinds().Names()
	hint := strict.DidYouMean(name, names)
	if hint == "" {
		hint = "the kinds are " + strings.Join(names, ", ")
	}
	return nil, usagef("unknown kind %q; %s", name, hint)
}
