package inspect_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/inspect"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestAnswers compares answers with golden files. In an archive of
// testdata/answers, files that end in .yaml are the input; the name of any other
// file is a question, and its content the answer as JSON:
//
//	check
//	dataplane NAME [kind=KIND] [ordered] [explain] [shadow] [source]
//	policy KIND NAME [NAMESPACE] [source]
//	placements
//	access NAME INBOUND [spiffe-id=ID] [sni=NAME] [method=M] [path=P] [KEY=VALUE of a tag ...] [explain] [source]
//	conf NAME KIND INBOUND [as for access]
//	diff [kind=KIND] [source]
//	shadow-diff [kind=KIND]
//
// Files named before* and after* are the input of one side of diff only. Set
// UPDATE=1 to write the answers.
func TestAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newInput(t, archive)
			for i := range archive.Files {
				f := &archive.Files[i]
				if strings.HasSuffix(f.Name, ".yaml") {
					continue
				}
				got := w.answer(t, strings.Fields(f.Name))
				if os.Getenv("UPDATE") != "" {
					f.Data = got
				} else if diff := cmp.Diff(string(f.Data), string(got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// input is the resources of an archive.
type input struct {
	set           *resource.Set // of all files but before*
	before, after *core.View
}

func newInput(t *testing.T, archive *txtar.Archive) *input {
	t.Helper()
	load := func(without string) (*resource.Set, *core.View) {
		loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
		var inputs []resource.Input
		for _, f := range archive.Files {
			if strings.HasSuffix(f.Name, ".yaml") && !strings.HasPrefix(f.Name, without) {
				inputs = append(inputs, resource.Input{Name: f.Name, Data: f.Data})
			}
		}
		set, err := loader.Decode(inputs...)
		if err != nil {
			t.Fatal(err)
		}
		view, err := core.NewView(loader.Kinds, set)
		if err != nil {
			t.Fatal(err)
		}
		return set, view
	}
	var in input
	_, in.before = load("after")
	in.set, in.after = load("before")
	return &in
}

func (in *input) answer(t *testing.T, question []string) []byte {
	t.Helper()
	options, request, names := parseQuestion(question[1:])
	var answer any
	var err error
	switch question[0] {
	case "check":
		answer = inspect.NewCheck(in.after, in.set)
	case "dataplane":
		answer, err = inspect.NewDataplane(in.after, in.dataplane(t, names[0]), options)
	case "policy":
		answer = inspect.NewPolicy(in.after, in.policy(t, names), options.Source)
	case "access":
		d := in.dataplane(t, names[0])
		answer = inspect.NewAccess(in.after, d, inboundOf(t, d, names[1]), request, options)
	case "conf":
		d, kind := in.dataplane(t, names[0]), in.after.Kinds().Lookup(names[1])
		config := in.after.Config(d, kind.Name, inspect.ScopeOf(options.Shadow))
		effective, section := inspect.ForRequest(config, d, inboundOf(t, d, names[2]), request)
		answer = inspect.NewEffectiveConf(effective, section, inspect.Options{})
	case "placements":
		answer = inspect.NewPlacements(in.after, "default")
	case "shadow-diff":
		answer, err = inspect.NewShadowDiff(in.after, "default", options)
	case "diff":
		answer, err = inspect.NewDiff(in.before, in.after, "default", options)
	default:
		t.Fatalf("unknown question %q", question)
	}
	if err != nil {
		answer = map[string]any{"answer": answer, "error": err.Error()}
	}
	data, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(indented.Bytes(), '\n')
}

func parseQuestion(words []string) (options inspect.Options, r *request.Request, names []string) {
	r = &request.Request{}
	tags := map[string]string{}
	for _, word := range words {
		key, value, isValue := strings.Cut(word, "=")
		switch {
		case word == "ordered":
			options.Ordered = true
		case word == "explain":
			options.Explain = true
		case word == "shadow":
			options.Shadow = true
		case word == "source":
			options.Source = true
		case key == "kind":
			options.Kind = value
		case key == "spiffe-id":
			r.SpiffeID = value
		case key == "sni":
			r.SNI = value
		case key == "method":
			r.Method = value
		case key == "path":
			r.Path = value
		case isValue:
			tags[key] = value
		default:
			names = append(names, word)
		}
	}
	r.Tags = resource.NewTags(tags)
	return options, r, names
}

func (in *input) dataplane(t *testing.T, name string) *resource.Dataplane {
	t.Helper()
	d := in.after.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name})
	if d == nil {
		t.Fatalf("no dataplane %q", name)
	}
	return d
}

func (in *input) policy(t *testing.T, names []string) *resource.Policy {
	t.Helper()
	id := resource.ID{Kind: names[0], Mesh: "default", Name: names[1]}
	if len(names) > 2 {
		id.Namespace = names[2]
	}
	p := in.after.Policy(id)
	if p == nil {
		t.Fatalf("no policy %q", names)
	}
	return p
}

func inboundOf(t *testing.T, d *resource.Dataplane, port string) int {
	t.Helper()
	i := slices.IndexFunc(d.Inbounds, func(in resource.Inbound) bool { return strconv.Itoa(int(in.Port)) == port })
	if i < 0 {
		t.Fatalf("%s has no inbound %s", d.Name, port)
	}
	return i
}
