package main

import (
	"fmt"
	"slices"
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
	namespace string
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
		return "", fmt.Errorf("there is no mesh %q; %s", g.mesh, strict.DidYouMean(g.mesh, meshes))
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
	var names, namespaces []string
	var found []*resource.Dataplane
	for _, d := range w.view.Dataplanes(w.mesh) {
		names = append(names, d.Name)
		if d.Name == name && (g.namespace == "" || d.Namespace == g.namespace) {
			found = append(found, d)
			namespaces = append(namespaces, d.Namespace)
		}
	}
	return one(found, "dataplane", name, names, namespaces)
}

// policy finds a policy by kind and name.
func (g *globals) policy(w *world, kind, name string) (*resource.Policy, error) {
	var names, namespaces []string
	var found []*resource.Policy
	for _, p := range w.view.Policies(w.mesh) {
		if p.Type.Name != kind {
			continue
		}
		names = append(names, p.Name)
		if p.Name == name && (g.namespace == "" || p.Namespace == g.namespace) {
			found = append(found, p)
			namespaces = append(namespaces, p.Namespace)
		}
	}
	return one(found, kind, name, names, namespaces)
}

// one returns the only element, or tells how to say which one is meant.
func one[T any](found []*T, what, name string, names, namespaces []string) (*T, error) {
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		message := fmt.Sprintf("there is no %s %q", what, name)
		if hint := strict.DidYouMean(name, names); hint != "" {
			message += "; " + hint
		}
		return nil, fmt.Errorf("%s", message)
	}
	return nil, fmt.Errorf("%s %q is in several namespaces; choose one with --namespace: %s", what, name, strings.Join(namespaces, ", "))
}

// kindNamed checks a --kind.
func kindNamed(view *core.View, name string) (*resource.Kind, error) {
	if kind := view.Kinds().Lookup(name); kind != nil {
		return kind, nil
	}
	return nil, usagef("unknown kind %q; %s", name, strict.DidYouMean(name, view.Kinds().Names()))
}
