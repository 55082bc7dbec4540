package inspect_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestAnswers compares answers with golden files. In an archive of
// testdata/answers, files that end in .yaml are the input; the name of any other
// file is a question, and its content the answer as JSON:
//
//	check
//	dataplane NAME [kind=KIND] [ordered] [explain] [shadow] [source]
//	rules NAME [inbound=INBOUND | outbound=OUTBOUND | whole] [kind=KIND] [ordered] [shadow] [source]
//	policy KIND NAME [source]
//	placements [NAME]
//	access NAME INBOUND [spiffe-id=ID] [sni=NAME] [method=M] [path=P] [header=NAME=VALUE ...] [tag=KEY=VALUE ...] [explain] [source]
//	conf NAME [kind=KIND] [outbound=OUTBOUND [route=ROUTE]] [inbound=INBOUND [as for access]]
//	diff [kind=KIND] [source]
//	shadow-diff [kind=KIND]
//	policy-diff KIND NAME
//
// A name may be NAMESPACE/NAME, or have namespace=NAMESPACE. Files named before*
// and after* are the input of one side of diff only. Set UPDATE=1 to write the
// answers.
func TestAnswers(t *testing.T) {
	golden.Archives(t, "testdata/answers/*.txtar", func(t *testing.T, archive *txtar.Archive) golden.Answer {
		in := newInput(t, archive)
		return func(t *testing.T, f *txtar.File) (string, bool) {
			if strings.HasSuffix(f.Name, ".yaml") {
				return "", false
			}
			return in.json(t, parseQuestion(f.Name)), true
		}
	})
}

// input contains the resources of an archive.
type input struct {
	set           *resource.Set // of all files except before*
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
		set, err := loader.Decode(t.Context(), inputs...)
		if err != nil {
			t.Fatal(err)
		}
		view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), loader.Kinds, set)
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

// json returns the answer to a question as JSON, with its error.
func (in *input) json(t *testing.T, q *question) string {
	t.Helper()
	answer, err := in.answer(t, q)
	if err != nil {
		answer = map[string]any{"answer": answer, "error": err.Error()}
	}
	data, err := inspect.JSON(answer)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (in *input) answer(t *testing.T, q *question) (any, error) {
	t.Helper()
	switch q.what {
	case "check":
		return check.New(in.after, in.set), nil
	case "placements":
		if placements := placement.New(in.after, "default"); len(q.names) == 0 {
			return placements, nil
		} else {
			return placements.Named(q.name(0))
		}
	case "shadow-diff":
		return diff.NewShadow(in.after, "default", q.options)
	case "diff":
		return diff.New(in.before, in.after, "default", q.options)
	case "policy", "policy-diff":
		return in.aboutPolicy(q)
	}
	d, err := find.Dataplane(in.after, "default", q.name(0))
	if err != nil {
		return nil, err
	}
	switch q.what {
	case "dataplane":
		return inspect.NewDataplane(in.after, d, q.options)
	case "rules":
		return in.rules(d, q)
	case "access":
		return in.access(d, q)
	case "conf":
		query := inspect.ConfQuery{Outbound: q.outbound, Route: q.route, Inbound: q.inbound, Request: q.request, Options: q.options}
		if q.options.Kind != "" {
			if query.Kind, err = find.Kind(in.after.Kinds(), q.options.Kind); err != nil {
				return nil, err
			}
		}
		return inspect.NewConf(in.after, d, &query)
	}
	t.Fatalf("unknown question %q", q.what)
	return nil, nil
}

func (in *input) aboutPolicy(q *question) (any, error) {
	p, err := find.Policy(in.after, "default", q.names[0], q.name(1))
	if err != nil {
		return nil, err
	}
	if q.what == "policy-diff" {
		enforced, err := diff.WithEnforced(context.Background(), in.after, in.set, p)
		if err != nil {
			return nil, err
		}
		q.options.Shadow = false
		return diff.New(in.after, enforced, p.Mesh, q.options)
	}
	return inspect.NewPolicy(in.after, p, q.options.Source)
}

func (in *input) rules(d *resource.Dataplane, q *question) (any, error) {
	switch {
	case q.inbound != "":
		i, err := find.Point(in.after, d, q.inbound)
		if err != nil {
			return nil, err
		}
		return inspect.NewInboundPolicies(in.after, d, i, q.options)
	case q.outbound != "":
		i, err := find.Outbound(in.after, d, q.outbound)
		if err != nil {
			return nil, err
		}
		return inspect.NewOutboundPolicies(in.after, d, i, q.options), nil
	case q.whole:
		return inspect.NewProxyPolicies(in.after, d, q.options), nil
	}
	return inspect.NewProxyRules(in.after, d, q.options)
}

func (in *input) access(d *resource.Dataplane, q *question) (any, error) {
	i, err := find.Point(in.after, d, q.names[1])
	if err != nil {
		return nil, err
	}
	r, err := q.request.Parse()
	if err != nil {
		return nil, err
	}
	return inspect.NewAccess(in.after, d, i, r, q.options), nil
}

// question is the parsed name of a file that is not an input.
type question struct {
	what                     string
	names                    []string
	namespace                *string
	inbound, outbound, route string
	whole                    bool
	request                  inspect.RequestQuery
	options                  inspect.Options
}

func (q *question) name(i int) find.Name {
	return find.Name{Name: q.names[i], Namespace: q.namespace}
}

func parseQuestion(text string) *question {
	words := strings.Fields(text)
	q := &question{what: words[0]}
	flags := map[string]*bool{
		"ordered": &q.options.Ordered, "explain": &q.options.Explain, "shadow": &q.options.Shadow, "source": &q.options.Source, "whole": &q.whole,
	}
	texts := map[string]*string{
		"kind": &q.options.Kind, "inbound": &q.inbound, "outbound": &q.outbound, "route": &q.route,
		"spiffe-id": &q.request.SpiffeID, "sni": &q.request.SNI, "method": &q.request.Method, "path": &q.request.Path,
	}
	for _, word := range words[1:] {
		key, value, isValue := strings.Cut(word, "=")
		switch {
		case flags[word] != nil:
			*flags[word] = true
		case texts[key] != nil:
			*texts[key] = value
		case key == "namespace" && isValue:
			q.namespace = &value
		case key == "header":
			q.request.Headers = append(q.request.Headers, value)
		case key == "tag":
			q.request.Tags = append(q.request.Tags, value)
		default:
			q.names = append(q.names, word)
		}
	}
	return q
}
