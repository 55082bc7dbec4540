package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// maxGroups and maxNames limit what a page shows of a diff.
const (
	maxGroups = 50
	maxNames  = 20
)

// diffData is what a policy would change.
type diffData struct {
	Empty         bool
	Opens, Closes int // inbounds
	Dataplanes    int
	Drains        int
	DrainsBecause string
	Access        []accessChangeGroup
	Groups        []diffGroup
	More          int // groups that are not shown
	Errors        []string
	New           []string // the policies of the text
	Semantics     string
}

// accessChangeGroup is the changes of an inbound of dataplanes.
type accessChangeGroup struct {
	Inbound       string
	Dataplanes    []link
	More          int
	Opens, Closes []accessChange
}

type accessChange struct {
	Clients       string
	Before, After string
	BeforeBy      itemLink
	AfterBy       itemLink
	Witness       string // the request in words
	Try           string // the link that asks about it
}

// diffGroup is dataplanes with the same changes.
type diffGroup struct {
	Dataplanes []link
	More       int
	Changes    []changedField
}

type changedField struct {
	Kind, Place, Field string
	FirstOfPlace       bool
	Before, After      string
	BeforeBy, AfterBy  *itemLink
}

func (s *site) tryPolicy(a *ask) (*view, error) {
	v := &view{Title: "Try", Section: "try"}
	data := tryData{Text: a.form.Get("policy")}
	if len(data.Text) <= maxInLink {
		data.Link = with(s.ofMesh(a.mesh, "try"), "policy", data.Text)
	}
	answer, names, limits, err := a.diff(data.Text)
	var invalid diag.Errors
	switch {
	case errors.As(err, &invalid) && !a.wantsJSON():
		v.status = http.StatusBadRequest
		data.TextErrors = lists.Map(invalid, func(e diag.Diagnostic) textError {
			return textError{e.Pos.Line, diag.OneLine(strings.TrimPrefix(e.Error(), triedName+":"))}
		})
	case err != nil && !a.wantsJSON() && statusOf(err) == http.StatusBadRequest:
		v.status, data.TextErrors = http.StatusBadRequest, []textError{{0, err.Error()}}
	case err != nil:
		return nil, err
	default:
		data.Diff = a.diffData(answer, names)
		if limits != nil {
			data.Diff.Errors = strings.Split(limits.Error(), "\n")
		}
		v.JSON = struct {
			*diff.Diff
			Incomplete []string `json:"incomplete,omitempty"`
		}{answer, data.Diff.Errors}
	}
	v.Data = data
	return v, nil
}

// diff returns what changes if the policies of a text are added or replaced. The second
// error is about parts that are left out.
func (a *ask) diff(text string) (answer *diff.Diff, names []string, limits, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil, nil, badRequest("there is no text; paste a policy in YAML or JSON")
	}
	loader := resource.Loader{Kinds: a.View.Kinds(), Documents: a.site.Loader.Documents}
	edit, err := loader.Decode(a.Context(), resource.Input{Name: triedName, Data: []byte(text)})
	if err != nil {
		return nil, nil, nil, err
	}
	switch {
	case len(edit.Policies) == 0:
		return nil, nil, nil, badRequest("the text has no policy; only policies can be tried here, the command diff takes every resource")
	case len(edit.Dataplanes)+len(edit.Meshes)+len(edit.Objects)+len(edit.Documents) > 0:
		return nil, nil, nil, badRequest("only policies can be tried here; the command diff takes every resource")
	}
	for _, p := range edit.Policies {
		if p.Mesh != a.mesh {
			return nil, nil, nil, badRequest(fmt.Sprintf("%s is in another mesh than this page, which is about %q; write mesh: %s", p.ID, a.mesh, a.mesh))
		}
		verb := "new"
		if a.View.Policy(p.ID) != nil {
			verb = "changed"
		}
		names = append(names, verb+": "+p.Kind+" "+p.Qualified())
	}
	after, err := a.View.Options().NewView(a.Context(), a.View.Kinds(), source.Edited(a.Set, edit, new(resource.Set)))
	if err != nil {
		return nil, nil, nil, cmp.Or(context.Cause(a.Context()), err)
	}
	compared := &proxied.Comparison{Before: proxied.Side{View: a.View}, After: proxied.Side{View: after}, Mesh: a.mesh}
	answer, limits = compared.Diff(a.Context(), inspect.Options{Source: !a.wantsJSON() || a.form.Has("source")}, a.site.Translators)
	if answer == nil {
		return nil, nil, nil, cmp.Or(context.Cause(a.Context()), limits)
	}
	return answer, names, limits, nil
}

func (a *ask) diffData(diff *diff.Diff, names []string) *diffData {
	data := &diffData{Empty: diff.Empty(), Opens: len(diff.Opens), Closes: len(diff.Closes), Drains: len(diff.Drains), New: names, Semantics: diff.Semantics.String()}
	var because []string
	for i := range diff.Drains {
		because = append(because, diff.Drains[i].Because...)
	}
	slices.Sort(because)
	data.DrainsBecause = strings.Join(slices.Compact(because), ", ")
	data.Access = lists.MapPointers(diff.Access, a.accessChanges)
	for i := range diff.Groups {
		g := &diff.Groups[i]
		data.Dataplanes += len(g.Dataplanes)
		if len(data.Groups) == maxGroups {
			data.More++
			continue
		}
		group := diffGroup{}
		group.Dataplanes, group.More = a.names(g.Names)
		place := ""
		for j := range g.Changes {
			c := &g.Changes[j]
			field := changedField{Kind: c.Kind, Place: c.Place.String(), Field: c.Field, Before: rawText(c.Before), After: rawText(c.After)}
			if field.FirstOfPlace = place != c.Kind+field.Place; field.FirstOfPlace {
				place = c.Kind + field.Place
			}
			if c.Field == "" && j+1 < len(g.Changes) && g.Changes[j+1].Kind == c.Kind && g.Changes[j+1].Place.String() == field.Place {
				place = "" // the fields that follow show that the conf begins or ceases to apply
				continue
			}
			if c.BeforeOrigin != nil {
				before := a.site.item(a.mesh, c.Kind, c.BeforeOrigin.Item, c.BeforeOrigin.Source)
				field.BeforeBy = &before
			}
			if c.AfterOrigin != nil {
				after := untried(a.site.item(a.mesh, c.Kind, c.AfterOrigin.Item, c.AfterOrigin.Source))
				field.AfterBy = &after
			}
			group.Changes = append(group.Changes, field)
		}
		data.Groups = append(data.Groups, group)
	}
	return data
}

// untried returns the link to an item without its path if the item is in the text that is tried.
func untried(item itemLink) itemLink {
	if strings.HasPrefix(item.Source, triedName+":") {
		item.Href = ""
	}
	return item
}

// names returns links to the first dataplanes of a list.
func (a *ask) names(names []string) (links []link, more int) {
	links = lists.Map(names[:min(maxNames, len(names))], func(name string) link { return link{name, a.site.ofMesh(a.mesh, "dataplanes", name), false} })
	return links, max(0, len(names)-maxNames)
}

func (a *ask) accessChanges(d *diff.Access) accessChangeGroup {
	g := accessChangeGroup{Inbound: d.Inbound}
	g.Dataplanes, g.More = a.names(d.Names)
	change := func(c *diff.AccessChange) accessChange {
		return accessChange{
			Clients: c.Clients.String(), Before: c.Before.Decision, After: c.After.Decision,
			BeforeBy: a.decider(&c.Before.By), AfterBy: untried(a.decider(&c.After.By)),
			Witness: witnessText(&c.Witness), Try: a.witnessLink(d.Names[0], d.Inbound, &c.Witness),
		}
	}
	g.Opens, g.Closes = lists.MapPointers(d.Opens, change), lists.MapPointers(d.Closes, change)
	return g
}

// witnessText describes a request in words.
func witnessText(w *inspect.Witness) string {
	parts := []string{cmp.Or(w.SpiffeID, "a client without a SPIFFE ID")}
	if w.Method != "" || w.Path != "" {
		parts = append(parts, strings.TrimSpace(w.Method+" "+w.Path))
	}
	for _, name := range sortedPointers(w.Headers) {
		parts = append(parts, name+": "+w.Headers[name])
	}
	if w.SNI != "" {
		parts = append(parts, "SNI "+w.SNI)
	}
	if len(w.Tags) > 0 {
		parts = append(parts, w.Tags.String())
	}
	return strings.Join(parts, ", ")
}

// witnessLink returns the link that tries a request.
func (a *ask) witnessLink(dataplane, inbound string, w *inspect.Witness) string {
	pairs := []string{"dataplane", dataplane, "inbound", inbound, "spiffe-id", w.SpiffeID, "sni", w.SNI, "method", w.Method, "path", w.Path}
	for _, name := range sortedPointers(w.Headers) {
		pairs = append(pairs, "header", name+"="+w.Headers[name])
	}
	for _, tag := range w.Tags {
		pairs = append(pairs, "tag", tag.Key+"="+tag.Value)
	}
	return with(a.site.ofMesh(a.mesh, "try"), pairs...)
}
