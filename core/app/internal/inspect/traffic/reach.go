package traffic

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Reach is the answer of `reach`: the requests that each inbound of a mesh allows each
// client (SPEC 13.2).
type Reach struct {
	Semantics semantics.Semantics `json:"semantics"` // the semantics of the decision (SPEC 17.1)
	// Clients are the sorted identities of dataplanes, and then all other clients
	// together. Inbounds are sorted by service and name.
	Clients  []ReachClient  `json:"clients"`
	Inbounds []ReachInbound `json:"inbounds"`
	// Cells contains one cell for each pair, sorted by client, then by inbound.
	Cells []ReachCell `json:"cells"`
	// Warnings are about what may make the answer wrong. [NewReach] sets none.
	Warnings []diag.Diagnostic `json:"warnings,omitempty"`
}

// ReachClient is a SPIFFE ID, or all clients whose ID is not in the list.
type ReachClient struct {
	ID         string `json:"id"` // or [OtherClients]
	Dataplanes int    `json:"dataplanes"`
}

// OtherClients replaces an ID. It means clients with an ID that no dataplane has, and
// clients without an ID.
const OtherClients = "others"

// ReachInbound represents the inbounds with the same service, the same name and
// equal permissions.
type ReachInbound struct {
	Service    string `json:"service,omitempty"`
	Inbound    string `json:"inbound"`
	Dataplanes int    `json:"dataplanes"`
	// Title is the service and the inbound, with a number if several have the same
	// service and name.
	Title string `json:"-"`
}

// ReachCell describes the requests that an inbound allows a client.
type ReachCell struct {
	Client  int    `json:"client"`  // index in Clients
	Inbound int    `json:"inbound"` // index in Inbounds
	Access  string `json:"access"`  // all, none, some or unknown
	// When is the condition on the allowed requests, if Access is some.
	When *access.Condition `json:"when,omitempty"`
	// Why is the limit that was exceeded, if Access is unknown.
	Why string            `json:"why,omitempty"`
	By  []inspect.Decider `json:"by"` // the entries that decide any request
}

// Condition returns the condition of the cell, or the limit that was exceeded; "" if there is neither.
func (c *ReachCell) Condition() string {
	if c.When != nil {
		return c.When.String()
	}
	return c.Why
}

// Cell returns the cell of a client and an inbound, given by their indexes.
func (a *Reach) Cell(client, inbound int) *ReachCell {
	return &a.Cells[client*len(a.Inbounds)+inbound]
}

// ReachQuery restricts the answer. A zero field does not restrict it.
type ReachQuery struct {
	To   string // a service, or a dataplane by its name
	From string // a SPIFFE ID, a dataplane by its name, or a service
}

// NewReach returns the requests that the inbounds of a mesh allow their clients.
// The error is [find.ErrNotFound] or [find.ErrUsage].
func NewReach(view *core.View, mesh string, q ReachQuery, options inspect.Options) (*Reach, error) {
	r := reacher{view: view, mesh: mesh, options: options, services: find.NewServices(view, mesh), clients: map[string]*reachClient{}, columns: map[reachColumn]*column{},
		lists: map[listSource]*reachList{}, byKey: map[string]*reachList{}, known: map[cellsOf][]ReachCell{}, limits: requests.Limits(2)}
	r.options.Semantics = view.Semantics()
	if err := r.find(q); err != nil {
		return nil, err
	}
	for _, d := range r.to {
		r.add(d)
	}
	return r.answer(q.From == ""), nil
}

// reacher makes a [Reach].
type reacher struct {
	view     *core.View
	mesh     string
	options  inspect.Options
	from, to []*resource.Dataplane
	service  *find.Service // whose inbounds are asked for; nil: all inbounds of to
	services *find.Services
	clients  map[string]*reachClient // by SPIFFE ID
	columns  map[reachColumn]*column
	lists    map[listSource]*reachList
	byKey    map[string]*reachList
	known    map[cellsOf][]ReachCell
	limits   access.Limits
}

// listSource contains the inputs of an inbound's list. Inbounds share configs.
type listSource struct {
	config   *results.InboundConfig // nil: no permission selects the inbound
	protocol request.Protocol
	open     bool
}

// reachList is the list of the permissions of inbounds. Equal lists are one
// pointer.
type reachList struct {
	*access.List
	key string
}

// cellsOf contains the inputs of a column's cells.
type cellsOf struct {
	list  *reachList
	space requests.Space
}

// reachClient represents the dataplanes with one SPIFFE ID.
type reachClient struct {
	id         string
	dataplanes int
	tags       []resource.Tags // the sets of tags that its requests can have, each once
}

// reachColumn contains the properties that the inbounds of one column share.
type reachColumn struct {
	service, inbound string
	cellsOf
}

type column struct {
	reachColumn
	dataplanes int
}

// find collects the clients, and the dataplanes of the inbounds, of a query.
func (r *reacher) find(q ReachQuery) error {
	all := r.view.Dataplanes(r.mesh)
	r.to = all
	if q.To != "" {
		var err error
		if r.to, r.service, err = r.named(q.To); err != nil {
			return err
		}
	}
	r.from = all
	switch {
	case request.ClaimsID(q.From):
		if request.ClientID(q.From) == "" {
			return find.Usagef("%q is not a SPIFFE ID", q.From)
		}
		r.clients[q.From] = &reachClient{id: q.From}
	case q.From != "":
		var err error
		if r.from, _, err = r.named(q.From); err != nil {
			return err
		}
	}
	for _, d := range r.from {
		ids, err := requests.IDsOf(r.view, d)
		if err != nil {
			continue
		}
		for _, id := range ids {
			if !request.ClaimsID(q.From) || id == q.From {
				r.addClient(id, d)
			}
		}
	}
	if q.From != "" && len(r.clients) == 0 {
		return fmt.Errorf("%w: no dataplane of %q has an identity", find.ErrNotFound, q.From)
	}
	return nil
}

// addClient adds a dataplane to the clients with a SPIFFE ID.
func (r *reacher) addClient(id string, d *resource.Dataplane) {
	c := r.clients[id]
	if c == nil {
		c = &reachClient{id: id}
		r.clients[id] = c
	}
	c.dataplanes++
	for _, tags := range find.ClientTags(d) {
		if !slices.ContainsFunc(c.tags, func(t resource.Tags) bool { return slices.Equal(t, tags) }) {
			c.tags = append(c.tags, tags)
		}
	}
}

// named returns the dataplanes of a service by its tag, else the dataplane with the name,
// else the dataplanes of MeshServices with the name. A service may have the prefix svc/.
func (r *reacher) named(name string) ([]*resource.Dataplane, *find.Service, error) {
	name, isService := strings.CutPrefix(name, find.ServicePrefix)
	service, failed := find.NewService(r.view, r.mesh, name, nil)
	switch {
	case isService && failed != nil:
		return nil, nil, failed
	case isService || failed == nil && service.IsTag():
		return service.Dataplanes, service, nil
	}
	d, err := find.Dataplane(r.view, r.mesh, find.Name{Name: name})
	switch {
	case err == nil:
		return []*resource.Dataplane{d}, nil, nil
	case failed == nil:
		return service.Dataplanes, service, nil
	}
	known := find.ServiceNames(r.view, r.mesh)
	for _, d := range r.view.Dataplanes(r.mesh) {
		if d.Name == name { // it is in several namespaces
			return nil, nil, err
		}
		known = append(known, d.Name)
	}
	slices.Sort(known)
	return nil, nil, find.NotFound(fmt.Sprintf("there is no service and no dataplane %q", name), name, slices.Compact(known))
}

// add adds the inbounds of a dataplane to the columns.
func (r *reacher) add(d *resource.Dataplane) {
	config, applied := requests.ConfigOf(r.view, d), r.view.PermissionsApply(d)
	seen := map[reachColumn]bool{}
	for i := range d.Inbounds {
		if !d.IsListener(i) || r.service != nil && !slices.Contains(r.service.Inbounds(d), i) {
			continue
		}
		space := requests.SpaceOf(r.view, d)
		space.Protocol = request.ProtocolOf(d, i)
		key := reachColumn{r.services.NameOf(d, i), d.Inbounds[i].SectionName(), cellsOf{r.list(config, d, i, applied), space}}
		c := r.columns[key]
		if c == nil {
			c = &column{reachColumn: key}
			r.columns[key] = c
		}
		if !seen[key] {
			seen[key] = true
			c.dataplanes++
		}
	}
}

// list returns the permissions of an inbound.
func (r *reacher) list(config *results.Config, d *resource.Dataplane, inbound int, applied bool) *reachList {
	source := listSource{protocol: request.ProtocolOf(d, inbound), open: !applied}
	if config != nil {
		source.config = config.Inbounds[inbound]
	}
	list := r.lists[source]
	if list == nil {
		list = &reachList{List: access.ListOf(requests.PermissionsOf(config, d, inbound, applied))}
		list.key = list.Key()
		if equal := r.byKey[list.key]; equal != nil {
			list = equal
		}
		r.lists[source], r.byKey[list.key] = list, list
	}
	return list
}

func (r *reacher) answer(others bool) *Reach {
	a := &Reach{Semantics: r.view.Semantics(), Clients: []ReachClient{}, Inbounds: []ReachInbound{}, Cells: []ReachCell{}}
	clients := slices.SortedFunc(maps.Values(r.clients), func(x, y *reachClient) int { return strings.Compare(x.id, y.id) })
	ids := make([]string, len(clients))
	for i, c := range clients {
		ids[i] = c.id
		a.Clients = append(a.Clients, ReachClient{c.id, c.dataplanes})
	}
	if others {
		a.Clients = append(a.Clients, ReachClient{ID: OtherClients})
	}
	columns := slices.SortedFunc(maps.Values(r.columns), func(x, y *column) int {
		return cmp.Or(strings.Compare(x.service, y.service), strings.Compare(x.inbound, y.inbound), strings.Compare(x.list.key, y.list.key), x.space.Compare(y.space))
	})
	titles := map[string]int{}
	for _, c := range columns {
		title := strings.TrimSpace(c.service + " " + c.inbound)
		if titles[title]++; titles[title] > 1 {
			title += fmt.Sprintf(" (%d)", titles[title])
		}
		a.Inbounds = append(a.Inbounds, ReachInbound{c.service, c.inbound, c.dataplanes, title})
	}
	cells := make([][]ReachCell, len(columns))
	for k, c := range columns {
		known := r.known[c.cellsOf]
		if known == nil {
			known = r.column(c, clients, ids, others)
			r.known[c.cellsOf] = known
		}
		cells[k] = known
	}
	for i := range a.Clients {
		for k := range columns {
			cell := cells[k][i]
			cell.Client, cell.Inbound = i, k
			a.Cells = append(a.Cells, cell)
		}
	}
	return a
}

// column returns the cells of a column. A client with several sets of tags is allowed all
// requests if each set is, and none if no set is allowed any.
func (r *reacher) column(c *column, clients []*reachClient, ids []string, others bool) []ReachCell {
	space := c.space.Access()
	tagsOf := func(client *reachClient) []resource.Tags {
		if len(client.tags) == 0 || !c.list.ComparesTags() {
			return []resource.Tags{nil}
		}
		return client.tags
	}
	var asked []access.KnownClient
	for _, client := range clients {
		for _, tags := range tagsOf(client) {
			asked = append(asked, access.KnownClient{SpiffeID: client.id, Tags: tags})
		}
	}
	reaches := access.ReachOf(space, c.list.List, asked, r.limits)
	cells := make([]ReachCell, 0, len(clients)+1)
	for _, client := range clients {
		n := len(tagsOf(client))
		one := &asked[0]
		if n > 1 {
			one = nil // the condition contains the tags
		}
		cells = append(cells, r.cell(c, reaches[:n], one))
		reaches, asked = reaches[n:], asked[n:]
	}
	if others {
		cells = append(cells, r.cell(c, []access.Reach{access.ReachOfOthers(space, c.list.List, ids, r.limits)}, nil))
	}
	return cells
}

// cell joins the results of an inbound for the sets of tags of a client.
func (r *reacher) cell(c *column, reaches []access.Reach, client *access.KnownClient) ReachCell {
	verdict := reaches[0].Verdict
	var by []access.Decision
	var failed error
	for _, reach := range reaches {
		if reach.Verdict != verdict {
			verdict = access.Some
		}
		failed = cmp.Or(failed, reach.Err)
		for _, d := range reach.By {
			if !slices.Contains(by, d) {
				by = append(by, d)
			}
		}
	}
	cell := ReachCell{By: []inspect.Decider{}}
	c.list.Sort(by)
	for _, d := range by {
		cell.By = append(cell.By, inspect.NewDecision(d, r.options).By)
	}
	switch {
	case failed != nil:
		verdict = access.Unknown
		var limit *access.LimitError
		if errors.As(failed, &limit) {
			cell.Why = limit.What
		}
	case verdict == access.Some:
		when := access.Allowed(c.list.List, by, client)
		cell.When = &when
	}
	cell.Access = verdict.String()
	return cell
}
