package pages

import (
	"maps"
	"slices"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// overviewData is the data of the overview, of all meshes or of one.
type overviewData struct {
	Mesh     string // "": all
	Meshes   []meshRow
	Kinds    []kindCount // of policies, in all meshes that the page is about
	Others   []kindCount // of other resources
	Proxies  *ProxyStates
	Classes  []classCount
	Findings int
	Pending  bool
	Clean    bool
	Load     *loadData
	Clients  []ClientVersion
	Changes  []changeRow
	Places   []link // pages of the mesh
}

// meshRow is a mesh with its counts.
type meshRow struct {
	Name, Href           string
	Dataplanes, Policies int
	DataplanesHref       string
	PoliciesHref         string
	Proxies              *ProxyStates
}

// ProxyStates is how many dataplanes have each state: converged with what is served, pending, or absent
// without a stream. A silent one does not answer responses of a type, and has all else.
type ProxyStates struct {
	Converged int `json:"converged"`
	Pending   int `json:"pending"`
	Absent    int `json:"absent"`
	Silent    int `json:"silent"`
}

// NewProxyStates returns the numbers of the states of a server.
func NewProxyStates(states [server.NumNodeStates]int) *ProxyStates {
	return &ProxyStates{states[server.Converged], states[server.Pending], states[server.Absent], states[server.Silent]}
}

// All returns the number of dataplanes.
func (c *ProxyStates) All() int { return c.Converged + c.Pending + c.Absent + c.Silent }

// loadData is the outcome of the loads.
type loadData struct {
	Load
	LastTime, StaleTime *timeText
}

// StoreTime is how long ago the store confirmed its state.
func (l *loadData) StoreTime() string {
	if l.StoreAge < 0 {
		return "never"
	}
	return relative(l.StoreAge)
}

// overviewAnswer is the JSON of the overview.
type overviewAnswer struct {
	Version  string          `json:"version,omitempty"`
	Meshes   []meshAnswer    `json:"meshes"`
	Findings map[string]int  `json:"findings,omitempty"` // by class; absent until they are known
	Stale    string          `json:"stale,omitempty"`
	LastLoad *time.Time      `json:"lastLoad,omitempty"`
	Clients  []ClientVersion `json:"clients,omitempty"`
	Changes  []Commit        `json:"changes"`
}

type meshAnswer struct {
	Mesh       string         `json:"mesh"`
	Dataplanes int            `json:"dataplanes"`
	Policies   map[string]int `json:"policies"` // by kind
	Proxies    *ProxyStates   `json:"proxies,omitempty"`
}

func (s *site) overview(a *ask) (*view, error) {
	return s.summary(a, &view{Title: "Overview", Section: "overview"}, a.View.Meshes())
}

func (s *site) mesh(a *ask) (*view, error) {
	return s.summary(a, &view{Title: a.mesh, Kind: "Mesh", Section: "mesh"}, []string{a.mesh})
}

// lastChanges is the number of changes on the overview.
const lastChanges = 5

func (s *site) summary(a *ask, v *view, meshes []string) (*view, error) {
	v.Live = true
	data := overviewData{Mesh: a.mesh}
	answer := overviewAnswer{Version: s.Version, Meshes: []meshAnswer{}, Changes: []Commit{}}
	kinds := map[string]int{}
	for _, mesh := range meshes {
		row := meshRow{
			Name: mesh, Href: s.ofMesh(mesh), Dataplanes: len(a.View.Dataplanes(mesh)), Policies: len(a.View.Policies(mesh)),
			DataplanesHref: s.ofMesh(mesh, "dataplanes"), PoliciesHref: s.ofMesh(mesh, "policies"), Proxies: s.convergence(a, mesh),
		}
		of := map[string]int{}
		for _, p := range a.View.Policies(mesh) {
			of[p.Kind]++
			kinds[p.Kind]++
		}
		data.Meshes = append(data.Meshes, row)
		answer.Meshes = append(answer.Meshes, meshAnswer{mesh, row.Dataplanes, of, row.Proxies})
		if row.Proxies != nil {
			if data.Proxies == nil {
				data.Proxies = &ProxyStates{}
			}
			data.Proxies.Converged += row.Proxies.Converged
			data.Proxies.Pending += row.Proxies.Pending
			data.Proxies.Absent += row.Proxies.Absent
			data.Proxies.Silent += row.Proxies.Silent
		}
	}
	s.addKinds(a, &data, meshes, kinds)
	s.addFindings(a, &data, &answer)
	if s.Load != nil {
		load := s.Load()
		data.Load = &loadData{load, newTime(load.Last, a.now), newTime(load.StaleSince, a.now)}
		answer.Stale = load.StaleWhy
		if !load.Last.IsZero() {
			answer.LastLoad = &load.Last
		}
	}
	if s.Clients != nil && a.mesh == "" {
		answer.Clients = s.Clients()
		data.Clients = answer.Clients
	}
	for _, c := range s.Changes() {
		if len(answer.Changes) < lastChanges && (a.mesh == "" || c.isIn(a.mesh)) {
			answer.Changes = append(answer.Changes, c)
		}
	}
	data.Changes = a.changeRows(answer.Changes, a.mesh)
	v.Data, v.JSON = data, answer
	return v, nil
}

// addKinds adds the numbers of policies by kind, and either the numbers of other resources or
// the places of the one mesh.
func (s *site) addKinds(a *ask, data *overviewData, meshes []string, kinds map[string]int) {
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		href := ""
		if len(meshes) == 1 {
			href = with(s.ofMesh(meshes[0], "policies"), "kind", kind)
		}
		data.Kinds = append(data.Kinds, kindCount{Kind: kind, Href: href, Count: kinds[kind]})
	}
	if a.mesh != "" {
		for _, section := range sections {
			data.Places = append(data.Places, link{section.text, s.ofMesh(a.mesh, section.path), false})
		}
		return
	}
	counts := a.View.Count()
	for _, d := range a.Set.Documents {
		if ocm.IsKind(d.Kind) {
			counts[d.Kind]++
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		if _, isPolicy := kinds[kind]; !isPolicy && kind != resource.DataplaneKind && kind != resource.MeshKind && counts[kind] > 0 {
			href := ""
			if ocm.IsKind(kind) {
				href = a.site.to("rollouts")
			}
			data.Others = append(data.Others, kindCount{Kind: kind, Href: href, Count: counts[kind]})
		}
	}
}

// patienceOfOverview is how long the overview waits for findings.
const patienceOfOverview = 300 * time.Millisecond

// addFindings adds the numbers of findings, if they are known in time.
func (s *site) addFindings(a *ask, data *overviewData, answer *overviewAnswer) {
	found := s.check(a.State, false)
	if !found.ready() && !found.wait(a.Context(), patienceOfOverview) {
		data.Pending = true
		return
	}
	data.Classes, data.Findings, data.Clean = s.classes(found, ""), len(found.all), len(found.all) == 0
	answer.Findings = map[string]int{}
	for _, class := range data.Classes {
		answer.Findings[class.Class] = class.Count
	}
}

// convergence returns how far the proxies of a mesh are, or nil if none are served.
func (s *site) convergence(a *ask, mesh string) *ProxyStates {
	if s.Proxies == nil {
		return nil
	}
	var states [server.NumNodeStates]int
	for _, d := range a.View.Dataplanes(mesh) {
		states[s.Proxies.NodeState(d.KRI(""))]++
	}
	return NewProxyStates(states)
}
