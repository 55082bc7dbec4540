package pages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// accessData is the data of the page of access.
type accessData struct {
	To, From, Service, Namespace string
	Services, Namespaces         []string // for the filters
	TooLarge                     bool     // a filter is needed
	Pairs                        int      // of clients and inbounds
	Choices                      []link   // services, if a filter is needed
	NoIdentity                   bool
	Matrix                       *matrix
	Graph                        *accessGraph
	NoGraph                      string // why there is none
}

// matrix is who may call what: a row for clients with the same access, and a column for
// inbounds with the same callers.
type matrix struct {
	Services []matrixService // groups of columns
	Columns  []matrixColumn
	Rows     []matrixRow
	Whens    []matrixWhen
}

type matrixService struct {
	Name, Href string
	Span       int
}

type matrixColumn struct {
	Titles     []string
	Dataplanes int
}

type matrixRow struct {
	Clients    []link
	Dataplanes int
	Cells      []matrixCell
}

type matrixCell struct {
	Access string
	When   int // number of a condition, from 1; 0: none
}

// matrixWhen is a condition on the allowed requests.
type matrixWhen struct {
	Number int
	Text   string
	By     []itemLink
}

const (
	// maxPairs is the number of pairs of clients and inbounds that a page asks about,
	// because each pair is a question about permissions.
	maxPairs = 200_000
	// maxCells is the number of cells of a matrix, after equal rows and columns are joined.
	maxCells = 40_000
	// maxNodes is the number of nodes of a graph.
	maxNodes = 150
	// maxEdges is the number of its edges, beyond which nothing can be followed.
	maxEdges = 900
)

func (s *site) access(a *ask) (*view, error) {
	v := &view{Title: "Access", Section: "access"}
	data := accessData{To: a.form.Get("to"), From: a.form.Get("from"), Service: a.form.Get("service"), Namespace: a.form.Get("namespace")}
	known := a.callers()
	data.Services, data.Namespaces, data.NoIdentity = known.services, known.namespaces, len(known.ids) == 0
	query := traffic.ReachQuery{To: data.To, From: data.From}
	clients, inbounds := len(known.ids)+1, known.inbounds
	if data.From != "" {
		clients = known.clientsOf(data.From)
	}
	if data.To != "" {
		inbounds = known.inboundsOf(data.To)
	}
	if data.Pairs = clients * inbounds; data.Pairs > maxPairs {
		if a.wantsJSON() {
			return nil, badRequest(fmt.Sprintf("there are %s pairs of clients and inbounds; choose some with ?to=SERVICE or ?from=SPIFFE-ID, or use meshmatch reach", thousands(data.Pairs)))
		}
		data.TooLarge = true
		data.Choices = lists.Map(known.services[:min(len(known.services), 2*perPage)], func(service string) link {
			return link{Text: service, Href: with(s.ofMesh(a.mesh, "access"), "to", service)}
		})
		v.Data = data
		return v, nil
	}
	reach, err := traffic.NewReach(a.View, a.mesh, query, inspect.Options{Source: !a.wantsJSON() || a.form.Has("source")})
	if err != nil {
		return nil, err
	}
	v.JSON = reach
	if a.wantsJSON() {
		return v, nil
	}
	if err := context.Cause(a.Context()); err != nil {
		return nil, err
	}
	chosen := a.choose(reach, known, &data)
	data.Matrix = a.matrix(reach, chosen)
	if data.Matrix == nil {
		data.TooLarge = true
	}
	data.Graph, data.NoGraph = a.graph(reach, chosen, known)
	v.Data = data
	return v, nil
}

// callers is which services and identities a mesh has.
type callers struct {
	services, namespaces []string
	ids                  map[string][]string // the services of the dataplanes of each identity
	inbounds             int                 // with different services and names
	ofService            map[string]map[string]bool
	inNamespace          map[string]map[string]bool // services and IDs by namespace
}

func (a *ask) callers() *callers {
	c := &callers{ids: map[string][]string{}, ofService: map[string]map[string]bool{}, inNamespace: map[string]map[string]bool{}}
	identities, services := a.View.Identities(a.mesh), find.NewServices(a.View, a.mesh)
	for _, d := range a.View.Dataplanes(a.mesh) {
		of := servicesOf(d)
		if c.inNamespace[d.Namespace] == nil {
			c.inNamespace[d.Namespace] = map[string]bool{}
			if d.Namespace != "" {
				c.namespaces = append(c.namespaces, d.Namespace)
			}
		}
		here := c.inNamespace[d.Namespace]
		for i := range d.Inbounds {
			service := services.NameOf(d, i)
			if service != "" && !slices.Contains(of, service) {
				of = append(of, service)
			}
			if c.ofService[service] == nil {
				c.ofService[service] = map[string]bool{}
				if service != "" {
					c.services = append(c.services, service)
				}
			}
			if name := d.Inbounds[i].SectionName(); !c.ofService[service][name] {
				c.ofService[service][name] = true
				c.inbounds++
			}
			here[service] = true
		}
		if id, err := identities.IdentityOf(d); err == nil && id != nil {
			known := c.ids[id.SPIFFEID]
			for _, service := range of {
				if !slices.Contains(known, service) {
					known = append(known, service)
				}
			}
			c.ids[id.SPIFFEID] = known
			here[id.SPIFFEID] = true
		}
	}
	slices.Sort(c.services)
	slices.Sort(c.namespaces)
	return c
}

func (c *callers) clientsOf(from string) int {
	if request.ClaimsID(from) {
		return 1
	}
	n := 0
	for _, services := range c.ids {
		if slices.Contains(services, from) {
			n++
		}
	}
	return max(1, n)
}

func (c *callers) inboundsOf(to string) int { return max(1, len(c.ofService[to])) }

// chosen is the clients and inbounds of an answer that a page shows.
type chosen struct{ clients, inbounds []int }

// choose applies the filters for a service, of the client or of the inbound, and for a
// namespace.
func (a *ask) choose(reach *traffic.Reach, known *callers, data *accessData) chosen {
	var c chosen
	inNamespace := func(key string) bool { return data.Namespace == "" || known.inNamespace[data.Namespace][key] }
	isService := func(services ...string) bool { return data.Service == "" || slices.Contains(services, data.Service) }
	for i := range reach.Clients {
		id := reach.Clients[i].ID
		if id == traffic.OtherClients || inNamespace(id) {
			c.clients = append(c.clients, i)
		}
	}
	for i := range reach.Inbounds {
		if inNamespace(reach.Inbounds[i].Service) && isService(reach.Inbounds[i].Service) {
			c.inbounds = append(c.inbounds, i)
		}
	}
	if data.Service == "" {
		return c
	}
	// A service calls and is called: its clients with every inbound are shown too.
	var callers []int
	for _, i := range c.clients {
		if isService(known.ids[reach.Clients[i].ID]...) {
			callers = append(callers, i)
		}
	}
	if len(c.inbounds) == 0 && len(callers) > 0 {
		c.clients = callers
		for i := range reach.Inbounds {
			c.inbounds = append(c.inbounds, i)
		}
	}
	return c
}

// matrix returns the matrix of the chosen clients and inbounds. Equal rows and equal
// columns are joined. It returns nil if the matrix is too large even so.
func (a *ask) matrix(reach *traffic.Reach, c chosen) *matrix {
	m := &matrix{}
	numbers := map[string]int{} // of conditions
	cell := func(client, inbound int) matrixCell {
		at := reach.Cell(client, inbound)
		shown := matrixCell{Access: at.Access}
		text := at.Condition()
		if text == "" {
			return shown
		}
		by := a.deciders(at.By)
		key := text + "\x00" + fmt.Sprint(by)
		if numbers[key] == 0 {
			m.Whens = append(m.Whens, matrixWhen{len(m.Whens) + 1, text, by})
			numbers[key] = len(m.Whens)
		}
		shown.When = numbers[key]
		return shown
	}
	rows := make([][]matrixCell, len(c.clients))
	for i, client := range c.clients {
		for _, inbound := range c.inbounds {
			rows[i] = append(rows[i], cell(client, inbound))
		}
	}
	kept := m.joinColumns(a, reach, c.inbounds, rows)
	if len(kept)*len(rows) > 50*maxCells {
		return nil
	}
	byCells := map[string]int{}
	for i, client := range c.clients {
		cells := lists.Map(kept, func(column int) matrixCell { return rows[i][column] })
		key := fmt.Sprint(cells)
		at, known := byCells[key]
		if !known {
			at = len(m.Rows)
			byCells[key] = at
			m.Rows = append(m.Rows, matrixRow{Cells: cells})
		}
		row := &m.Rows[at]
		row.Dataplanes += reach.Clients[client].Dataplanes
		row.Clients = append(row.Clients, a.clientLink(reach.Clients[client].ID))
	}
	if len(m.Rows)*len(m.Columns) > maxCells {
		return nil
	}
	return m
}

func (a *ask) clientLink(id string) link {
	if id == traffic.OtherClients {
		return link{Text: "others"}
	}
	return link{Text: shortID(id), Href: with(a.site.ofMesh(a.mesh, "access"), "from", id)}
}

// shortID returns a SPIFFE ID without its scheme.
func shortID(id string) string { return strings.TrimPrefix(id, "spiffe://") }

// joinColumns joins neighbouring columns of a service that are equal, and returns the first
// one of each.
func (m *matrix) joinColumns(a *ask, reach *traffic.Reach, inbounds []int, rows [][]matrixCell) []int {
	var kept []int
	equal := func(x, y int) bool {
		return !slices.ContainsFunc(rows, func(row []matrixCell) bool { return row[x] != row[y] })
	}
	for i, inbound := range inbounds {
		in := &reach.Inbounds[inbound]
		last := len(m.Services) - 1
		if last < 0 || m.Services[last].Name != in.Service {
			m.Services = append(m.Services, matrixService{in.Service, with(a.site.ofMesh(a.mesh, "access"), "to", in.Service), 0})
			last++
		} else if equal(kept[len(kept)-1], i) {
			column := &m.Columns[len(m.Columns)-1]
			column.Titles = append(column.Titles, in.Inbound)
			column.Dataplanes += in.Dataplanes
			continue
		}
		m.Services[last].Span++
		m.Columns = append(m.Columns, matrixColumn{[]string{in.Inbound}, in.Dataplanes})
		kept = append(kept, i)
	}
	return kept
}

// serviceOf returns the name of the node of a client: its only service or, if it has none
// or several, its ID.
func (c *callers) serviceOf(id string) string {
	if services := c.ids[id]; len(services) == 1 {
		return services[0]
	}
	return cmp.Or(shortID(id), id)
}
