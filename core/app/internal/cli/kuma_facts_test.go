package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// factHeader is the first comment of a fact: the section of the facts that it is about,
// and the versions of Kuma for which it holds.
var factHeader = regexp.MustCompile(`\A# fact (\d+): \S.*\n# versions: ((?:2\.1[234]|3\.0)(?: (?:2\.1[234]|3\.0))*)\n`)

// semanticsOf are the values of $SEMANTICS for the versions of Kuma. What a version lacks of
// Kuma 2.14 is a kind or a field that no document of that version has.
var semanticsOf = map[string]string{"2.12": "kuma", "2.13": "kuma", "2.14": "kuma", "3.0": "kuma3"}

// TestKumaFacts runs the facts about Kuma (SPEC 17), each once in each semantics of the
// versions for which it holds. A fact is a script with its input and the expected answer,
// in a folder for each section of the facts. UPDATE=1 writes what is printed into the
// files. With -short, one fact of each section runs: they are commands that print and end.
func TestKumaFacts(t *testing.T) {
	const folder = "../../../../testdata/kuma-facts"
	sections, err := filepath.Glob(folder + "/[0-9]")
	if err != nil || len(sections) == 0 {
		t.Fatalf("no facts in %s: %v", folder, err)
	}
	for _, section := range sections {
		paths, err := filepath.Glob(section + "/*.txtar")
		if err != nil || len(paths) == 0 {
			t.Fatalf("no facts in %s: %v", section, err)
		}
		if testing.Short() {
			paths = paths[:1]
		}
		bySemantics := map[string][]string{}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			header := factHeader.FindSubmatch(text)
			if header == nil || string(header[1]) != filepath.Base(section) {
				t.Errorf("%s does not begin with \"# fact %s: ...\" and \"# versions: ...\"", path, filepath.Base(section))
				continue
			}
			for version := range strings.FieldsSeq(string(header[2])) {
				if s := semanticsOf[version]; !slices.Contains(bySemantics[s], path) {
					bySemantics[s] = append(bySemantics[s], path)
				}
			}
		}
		for semantics, files := range bySemantics {
			t.Run(filepath.Base(section)+"/"+semantics, func(t *testing.T) {
				testscript.Run(t, testscript.Params{
					Files: files, UpdateScripts: os.Getenv("UPDATE") != "", RequireExplicitExec: true,
					Setup: func(env *testscript.Env) error {
						env.Setenv("SEMANTICS", semantics)
						return nil
					},
				})
			})
		}
	}
}

// printResources is a program for facts about metadata: for each resource of files it
// prints what Kuma's rules derive from its name, labels and annotations.
func printResources() {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Load(context.Background(), os.Args[1:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all []*resource.Meta
	roles := map[*resource.Meta]string{}
	for _, d := range set.Dataplanes {
		all = append(all, &d.Meta)
	}
	for _, p := range set.Policies {
		all = append(all, &p.Meta)
		var texts []string
		for _, labelsOnly := range []bool{false, true} {
			role, ok := semantics.RoleOf(p, labelsOnly)
			text := role.String()
			if !ok {
				text = "error"
			}
			texts = append(texts, text)
		}
		roles[&p.Meta] = " role=" + strings.Join(slices.Compact(texts), ",")
	}
	for _, o := range set.Objects {
		all = append(all, o.Identity())
	}
	slices.SortFunc(all, func(a, b *resource.Meta) int { return cmp.Or(a.Compare(b.ID)) })
	origins := map[resource.Origin]string{resource.GlobalOrigin: "global", resource.NoOrigin: "none", resource.ZoneOrigin: "zone"}
	for _, m := range all {
		fmt.Printf("%s/%s mesh=%s display=%s namespace=%s zone=%s origin=%s%s\n",
			m.Kind, m.Name, m.Mesh, m.DisplayName(), m.HomeNamespace(), m.Zone(), origins[m.Origin()], roles[m])
	}
}

// printOutbounds is a program for facts about outbounds: for the dataplane of a name it
// prints the outbounds to destinations.
func printOutbounds() {
	flags := flag.NewFlagSet("outbounds", flag.ExitOnError)
	file, word := flags.String("f", "", ""), flags.String("semantics", "", "")
	_ = flags.Parse(os.Args[2:]) // it exits
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Load(context.Background(), *file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	read, err := semantics.Parse(*word)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	view, err := core.Options{Semantics: cmp.Or(read, core.TargetRef)}.NewView(context.Background(), loader.Kinds, set)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, d := range set.Dataplanes {
		if d.Name != os.Args[1] {
			continue
		}
		for _, o := range view.DestinationOutbounds(d) {
			fmt.Println(strings.TrimSpace(fmt.Sprintf("%s:%d %s %s", o.Address, o.Listens, o.Destination.KRI(""), o.Port.Name)))
		}
	}
}

// printSyncedName is a program for facts about names: it prints the name of the copy of
// a resource, given its mesh, display name, zone and namespace.
func printSyncedName() {
	arguments := append(os.Args[1:], "", "", "", "")
	fmt.Println(resource.SyncedName(arguments[0], arguments[1], arguments[2], arguments[3]))
}
