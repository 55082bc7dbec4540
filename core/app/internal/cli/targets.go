package cli

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// targets is the dataplanes that a command is about (SPEC 10): one by its name, the dataplanes
// of a service by svc/SERVICE, or those that -l selects.
type targets struct {
	selector string
	service  *find.Service         // that was asked for; nil: none
	list     []*resource.Dataplane // after load
}

// register adds -l to the flags of a command.
func (t *targets) register(c *cobra.Command) {
	c.Flags().StringVarP(&t.selector, "selector", "l", "", "instead of one dataplane, all that have these labels, or these tags on an inbound: `KEY=VALUE[,...]`")
}

// args requires one argument for each name. The last one is the dataplane, which -l
// replaces.
func (t *targets) args(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if t.selector == "" {
			return exactly(names...)(c, args)
		}
		if len(args) == len(names) {
			return usagef("-l selects the dataplanes; leave %q out", args[len(names)-1])
		}
		return exactly(names[:len(names)-1]...)(c, args)
	}
}

// several reports whether the command was asked about any number of dataplanes.
func (t *targets) several() bool { return t.selector != "" || t.service != nil }

// load reads the files, and finds the dataplanes. Name is the last argument; args without
// it is allowed with -l.
func (g *globals) loadTargets(c *cobra.Command, t *targets, args []string) (*world, error) {
	var selection find.Selection
	var err error
	if t.selector != "" {
		if selection, err = find.ParseSelection(t.selector); err != nil {
			return nil, err
		}
	}
	w, err := g.load(c)
	if err != nil {
		return nil, err
	}
	if t.selector != "" {
		t.list, err = find.SelectDataplanes(w.view, w.mesh, selection, g.namespace)
		return w, err
	}
	name := args[len(args)-1]
	if service, ok := strings.CutPrefix(name, find.ServicePrefix); ok {
		if t.service, err = find.NewService(w.view, w.mesh, service, g.namespace); err == nil {
			t.list = t.service.Dataplanes
		}
		return w, err
	}
	d, err := find.Dataplane(w.view, w.mesh, g.named(name))
	t.list = []*resource.Dataplane{d}
	return w, err
}

// An answered is the answer about one of the dataplanes.
type answered struct {
	name, kri string
	answer    any         // as JSON; an object
	table     func(*page) // prints it for a person
	no        bool        // the answer is "no"
	err       error       // instead of the answer, or in addition to a part of it
}

// answerAbout returns the answer about a dataplane, which a table prints. A nil answer means that
// there is only an error.
func answerAbout[A any](w *world, d *resource.Dataplane, answer *A, err error, table func(*page, *A)) answered {
	a := answered{name: d.Name, kri: inspect.DataplaneKRI(w.view, d), err: err}
	if answer != nil {
		a.answer, a.table = answer, func(p *page) { table(p, answer) }
	}
	return a
}

// printAnswers prints what was answered about the targets: the answer about one, or each
// distinct answer with the dataplanes that have it.
func (g *globals) printAnswers(c *cobra.Command, t *targets, answers []answered) error {
	if !t.several() {
		a := &answers[0]
		if a.answer == nil {
			return a.err
		}
		if err := g.print(c, a.answer, a.table); err != nil {
			return err
		}
		return a.end()
	}
	if !slices.ContainsFunc(answers, func(a answered) bool { return a.answer != nil }) {
		return errors.Join(lists.MapPointers(answers, func(a *answered) error { return a.err })...)
	}
	groups, err := grouped(answers)
	if err != nil {
		return err
	}
	if err := g.print(c, answerGroups(groups), func(p *page) { groupsPage(p, groups) }); err != nil {
		return err
	}
	var end error
	for i := range groups {
		switch e := groups[i].first.end(); {
		case e == nil:
		case end == nil || errors.Is(end, errNo):
			end = e
		case !errors.Is(e, errNo):
			end = errors.Join(end, e)
		}
	}
	return end
}

// end returns how a command ends with the answer.
func (a *answered) end() error {
	if a.answer == nil {
		return a.err
	}
	return ended(nil, a.err, a.no)
}

// An answerGroup is the dataplanes with one answer.
type answerGroup struct {
	first       *answered
	names, kris []string
	text        []byte // JSON object
}

// grouped joins equal answers. The groups are in the order of their first dataplanes.
func grouped(answers []answered) ([]*answerGroup, error) {
	var groups []*answerGroup
	byText := map[string]*answerGroup{}
	for i := range answers {
		a := &answers[i]
		var text []byte
		var err error
		if a.answer == nil {
			text, err = conf.Marshal(map[string]string{"error": diag.OneLine(a.err.Error())})
		} else {
			text, err = conf.Marshal(a.answer)
		}
		if err != nil {
			return nil, err
		}
		group := byText[string(text)]
		if group == nil {
			group = &answerGroup{first: a, text: text}
			byText[string(text)] = group
			groups = append(groups, group)
		}
		if !slices.Contains(group.kris, a.kri) {
			group.names, group.kris = append(group.names, a.name), append(group.kris, a.kri)
		}
	}
	return groups, nil
}

// MarshalJSON prints the fields of the answer after the dataplanes.
func (g *answerGroup) MarshalJSON() ([]byte, error) {
	return resource.MarshalInline(struct {
		Dataplanes []string `json:"dataplanes"`
	}{g.kris}, json.RawMessage(g.text))
}

// answerGroups returns the answer about several dataplanes: the only group's, or
// {"answers": [...]}.
func answerGroups(groups []*answerGroup) any {
	if len(groups) == 1 {
		return groups[0]
	}
	return struct {
		Answers []*answerGroup `json:"answers"`
	}{groups}
}

func groupsPage(p *page, groups []*answerGroup) {
	for _, group := range groups {
		names := group.names
		if p.wide {
			names = group.kris
		} else if len(names) > 1 {
			names = []string{someOf(names, 5)}
		}
		p.heading(0, "%s: %s", diag.Count(len(group.names), "dataplane"), listed(names))
		if group.first.answer == nil {
			p.line("error: %s", group.first.err)
			continue
		}
		group.first.table(p)
	}
}
