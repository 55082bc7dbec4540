package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/webhook"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

var (
	errNoFiles    = usagef("no input is given; use -f FILE, -f DIRECTORY, -f - or -f STORE, or set " + fileVariable)
	errStdinTwice = usagef("standard input can be given only once")
)

// globals is what all commands share: the kinds and translators of the program, and the
// flags that every command takes.
type globals struct {
	kinds       *resource.Kinds
	translators []xds.Translator
	files       []string // paths and addresses of stores
	store       storeFlags
	mesh        string
	namespace   *string // nil: not given
	context     string  // --context: the cluster without -f
	// allNamespaces is -A. Without it, scoped is set for a plugin of kubectl that reads a
	// cluster: names and lists are in the namespace, or of resources without one.
	allNamespaces, scoped bool
	output                choice
	semantics             choice // --semantics
	source                bool
	keepGoing             bool
	strict                bool // --strict
	keepSources           bool // for get: what is read is kept as it is written
	// leftOut is what the input has and the answer does not, with --keep-going.
	leftOut []resource.LeftOut
	exclude []string // --exclude
	zone    string   // --zone: whose control plane stores the documents of files
	// noResources are the documents of walked directories that are no resources.
	noResources []diag.Position
	// excluded are the patterns of exclude that left something out, and excludes reports that
	// something was read with them.
	excluded []string
	excludes bool
	// reported reports that it is on standard error.
	reported bool
}

// gcPercent is the GOGC of commands that read, answer and end, unless the environment
// has one. A check of 20,000 dataplanes takes 2.5 s of processor time and 117 MiB with
// Go's 100. It takes 2.2 s and 161 MiB with 200, and 2.0 s and 253 MiB with 400.
const gcPercent = 200

// world is the input of a command.
type world struct {
	view *core.View
	set  *resource.Set // what was loaded
	mesh string        // the mesh that the command is about
	// edited is what was loaded before an edit, if set is the edit only.
	edited *resource.Set
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
	set, err := g.read(c, files)
	if err != nil {
		return nil, err
	}
	s, err := g.semanticsOf(set)
	if err != nil {
		return nil, err
	}
	if len(files) > 1 || g.zone != "" {
		if err := webhook.NewControlPlane(g.zone, set).Store(set, s); err != nil {
			return nil, err
		}
	}
	return g.view(c.Context(), set, s)
}

// read reads files of any number of meshes.
func (g *globals) read(c *cobra.Command, files []string) (*resource.Set, error) {
	if len(files) == 0 {
		var err error
		if files, err = g.defaultInput(); err != nil {
			return nil, err
		}
	}
	if repeats(files, resource.Stdin) {
		return nil, errStdinTwice
	}
	if err := g.checkExclude(); err != nil {
		return nil, err
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	loader := resource.Loader{Kinds: g.kinds, Documents: documentTypes(), Stdin: c.InOrStdin(), KeepGoing: g.keepGoing, Strict: g.strict, KeepSources: g.keepSources, Exclude: g.exclude}
	paths, addresses := split(files)
	stores, err := g.openStores(addresses)
	if err != nil {
		return nil, err
	}
	set, err := source.Load(c.Context(), &loader, paths, stores...)
	if err != nil {
		return nil, ofZones(err)
	}
	g.leftOut = append(g.leftOut, set.LeftOut...)
	g.addRepository(set)
	return set, nil
}

// documentTypes are the documents that are read in addition to the resources of a mesh.
func documentTypes() []resource.DocumentType {
	return slices.Concat(ocm.Documents(), variant.Documents())
}

// view returns the world of resources, by a semantics.
func (g *globals) view(ctx context.Context, set *resource.Set, s semantics.Semantics) (*world, error) {
	left := len(set.LeftOut)
	set, err := set.ReadAs(s.Reading(), g.keepGoing)
	if err != nil {
		return nil, err
	}
	g.leftOut = append(g.leftOut, set.LeftOut[left:]...)
	view, err := core.Options{Semantics: s}.NewView(ctx, g.kinds, set)
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
		return "", errors.New(diag.WithHint(fmt.Sprintf("there is no mesh %q", g.mesh), diag.DidYouMean(g.mesh, meshes)))
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

// meshesOf returns --mesh, or all meshes of views, sorted.
func (g *globals) meshesOf(views ...*core.View) ([]string, error) {
	meshes := slices.Concat(lists.Map(views, (*core.View).Meshes)...)
	slices.Sort(meshes)
	meshes = slices.Compact(meshes)
	if g.mesh == "" && len(meshes) > 0 {
		return meshes, nil
	}
	mesh, err := g.chooseMesh(meshes)
	return []string{mesh}, err
}

// loadDataplane reads the files, and finds a dataplane by its name or namespace/name.
func (g *globals) loadDataplane(c *cobra.Command, name string) (*world, *resource.Dataplane, error) {
	w, err := g.load(c)
	if err != nil {
		return nil, nil, err
	}
	d, err := find.Dataplane(w.view, w.mesh, g.named(name))
	return w, d, err
}

// policyOf finds the policy of a flag: KIND/NAME or KIND/NAMESPACE/NAME.
func (g *globals) policyOf(w *world, text string) (*resource.Policy, error) {
	kindName, name, ok := strings.Cut(text, "/")
	if !ok {
		return nil, usagef("--policy must be KIND/NAME or KIND/NAMESPACE/NAME, %q is not", text)
	}
	kind, err := find.Kind(g.kinds, kindName)
	if err != nil {
		return nil, err
	}
	return find.Policy(w.view, w.mesh, kind.Name, g.named(name))
}

// named returns a name with the namespace of --namespace.
func (g *globals) named(name string) find.Name {
	return find.Name{Name: name, Namespace: g.namespace}
}
