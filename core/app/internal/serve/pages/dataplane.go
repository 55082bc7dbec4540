package pages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/inspectapi"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// dataplaneData is the data of the page of a dataplane.
type dataplaneData struct {
	*inspect.Dataplane
	Facts    []fact
	Open     string // why every client is allowed; "": the permissions are applied
	Proxy    *proxyData
	Places   []*place
	Shadow   bool // there are policies that only inform, which would change something
	Matched  []matchedKind
	Envoy    []envoyRow
	Warnings []finding
	Errors   []string // about parts that are left out
}

// fact is a row of what a subject is.
type fact struct {
	Name, Text, Href string
	Code             bool
}

// matchedKind is the policies of a kind that select a dataplane.
type matchedKind struct {
	Kind     string
	Policies []matchedPolicy
}

type matchedPolicy struct {
	Name, Href, Level, Inbounds string
	Informs                     bool
	Because                     string
}

// inboundData is who may call an inbound.
type inboundData struct {
	Clients []clientAccess
	More    string // a link to the whole answer
	Try     string
}

// clientAccess is clients with the same access to an inbound.
type clientAccess struct {
	Access string // all, some, none or unknown
	IDs    []string
	When   string
	By     []itemLink
}

// proxyData is how far the proxy of a dataplane is.
type proxyData struct {
	State   string
	Streams []server.StreamStatus
	Types   []typeRow
}

type typeRow struct {
	Type         string
	Current      bool // the client has what was sent
	Sent         string
	NACK         *server.NACKStatus
	NACKTime     *timeText
	NACKResource string
	Silent       *timeText // since when the client does not answer
}

// envoyRow is a resource of the proxy with the policies that shaped it.
type envoyRow struct {
	Type, Name, Version string
	Bytes               int
	By                  []itemLink
}

const (
	// manyPlaces is the number of places from which on they are folded.
	manyPlaces = 12
	// fewDataplanes is the size of a mesh up to which the page of a dataplane has all
	// clients.
	fewDataplanes = 300
)

func (s *site) dataplane(a *ask) (*view, error) {
	d, err := a.dataplane(a.PathValue("name"))
	if err != nil {
		return nil, err
	}
	v := &view{Title: d.Qualified(), Kind: "Dataplane", Section: "dataplanes", Live: true, HasJSON: true}
	if a.wantsJSON() {
		v.JSON, err = a.inspect(d)
		return v, err
	}
	options := inspect.Options{Explain: true, Source: true, Overridden: true, NoEffect: proxied.NoEffect(a.Snapshots, d)}
	enforced, limits := inspect.NewDataplane(a.View, d, options)
	var shadow *inspect.Dataplane
	if !slices.Equal(a.View.Configs(d, inspect.ScopeOf(false)), a.View.Configs(d, inspect.ScopeOf(true))) {
		shadow, _ = inspect.NewDataplane(a.View, d, inspect.Options{Explain: true, Source: true, Shadow: true})
	}
	data := dataplaneData{Dataplane: enforced, Places: newPlaces(s.links, d, enforced, shadow), Facts: a.facts(d, enforced)}
	if limits != nil {
		data.Errors = strings.Split(limits.Error(), "\n")
	}
	if enforced.PermissionsNotApplied {
		data.Open = permission.OpenReason + "; " + permission.OpenHint
	}
	for _, at := range data.Places {
		data.Shadow = data.Shadow || at.Shadowed
		at.Folded = len(data.Places) > manyPlaces && strings.HasPrefix(at.ID, "outbound-")
	}
	a.addAccess(d, data.Places)
	matched := enforced
	if shadow != nil {
		matched = shadow
	}
	data.Matched = a.matched(matched)
	data.Proxy = a.proxy(d)
	data.Envoy = a.envoy(d)
	data.Warnings = a.warnings(d)
	v.Data = data
	return v, nil
}

// inspect returns the JSON of a dataplane: the answer of `inspect dataplane`, with the
// same parameters.
func (a *ask) inspect(d *resource.Dataplane) (any, error) {
	query := a.URL.Query()
	query.Del("o")
	return inspectapi.Inspect(a.State, d, query)
}

func (a *ask) facts(d *resource.Dataplane, answer *inspect.Dataplane) []fact {
	return withText(
		fact{"KRI", answer.Dataplane.KRI, "", true},
		fact{"SPIFFE ID", answer.Dataplane.SpiffeID, with(a.site.ofMesh(a.mesh, "access"), "from", answer.Dataplane.SpiffeID), true},
		fact{"Address", d.Address, "", true},
		fact{"Zone", enforce.ZoneOf(d), "", false},
		fact{"Labels", d.Labels.String(), "", true},
		fact{"Source", cmp.Or(answer.Dataplane.Source, d.Pos.String()), "", true},
		fact{"Semantics", answer.Semantics.String(), "", false},
	)
}

// withText returns the facts that have a text.
func withText(facts ...fact) []fact {
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

func (a *ask) matched(answer *inspect.Dataplane) []matchedKind {
	return lists.MapPointers(answer.Policies, func(k *inspect.Kind) matchedKind {
		return matchedKind{k.Kind, lists.MapPointers(k.Matched, func(m *inspect.Matched) matchedPolicy {
			name := resource.ID{Namespace: m.Namespace, Name: m.Name}.Qualified()
			return matchedPolicy{
				Name: name, Href: a.site.ofMesh(a.mesh, "policies", k.Kind, name), Level: m.Level,
				Inbounds: strings.Join(slices.Concat(m.Inbounds, m.Listeners), ", "), Informs: m.Action != "", Because: strings.Join(m.Because, ", "),
			}
		})}
	})
}

// addAccess adds who may call each inbound.
func (a *ask) addAccess(d *resource.Dataplane, places []*place) {
	var reach *traffic.Reach
	if len(a.View.Dataplanes(a.mesh)) <= fewDataplanes {
		reach, _ = traffic.NewReach(a.View, a.mesh, traffic.ReachQuery{To: d.Qualified()}, inspect.Options{Source: true})
	}
	services := find.NewServices(a.View, a.mesh)
	for i := range d.Inbounds {
		service, name := services.NameOf(d, i), find.InboundName(d, i)
		in := &inboundData{
			More: with(a.site.ofMesh(a.mesh, "access"), "to", cmp.Or(service, d.Qualified())),
			Try:  with(a.site.ofMesh(a.mesh, "try"), "dataplane", d.Qualified(), "inbound", name),
		}
		if reach != nil {
			in.Clients = a.clients(reach, service, d.Inbounds[i].SectionName())
		}
		places[i].Inbound = in // inbounds are the first places
	}
}

// clients returns the clients of the first inbound with a service and a name.
func (a *ask) clients(reach *traffic.Reach, service, name string) []clientAccess {
	at := slices.IndexFunc(reach.Inbounds, func(in traffic.ReachInbound) bool { return in.Service == service && in.Inbound == name })
	var groups []clientAccess
	for i := range reach.Cells {
		cell := &reach.Cells[i]
		if cell.Inbound != at {
			continue
		}
		id := reach.Clients[cell.Client].ID
		c := clientAccess{Access: cell.Access, When: cell.Condition(), By: a.deciders(cell.By)}
		same := slices.IndexFunc(groups, func(g clientAccess) bool {
			return g.Access == c.Access && g.When == c.When && slices.Equal(g.By, c.By)
		})
		if same < 0 {
			groups, same = append(groups, c), len(groups)
		}
		groups[same].IDs = append(groups[same].IDs, id)
	}
	return groups
}

// deciders returns links to entries of permissions.
func (a *ask) deciders(by []inspect.Decider) []itemLink {
	return lists.MapPointers(by, a.decider)
}

// decider returns the link to an entry, or a text without a link for the default.
func (a *ask) decider(by *inspect.Decider) itemLink {
	if by.Default || by.Item == "" {
		return itemLink{Text: "default"}
	}
	return a.site.item(a.mesh, permission.KindName, by.Item, by.Source)
}

// proxy returns how far the proxy is, or nil if none are served.
func (a *ask) proxy(d *resource.Dataplane) *proxyData {
	if a.site.Proxies == nil {
		return nil
	}
	kri := d.KRI("")
	status := a.site.Proxies.Status(kri)
	data := &proxyData{State: a.site.Proxies.NodeState(kri).String(), Streams: status.Streams}
	for name, t := range status.Types {
		row := typeRow{Type: name, Sent: t.Sent, Current: t.Sent != "" && t.Sent == t.Acked, NACK: t.NACK}
		if t.NACK != nil {
			row.NACKTime, row.NACKResource = newTime(t.NACK.At, a.now), strings.Join(t.NACK.Resources, ", ")
		}
		if t.Silent != nil {
			row.Silent = newTime(*t.Silent, a.now)
		}
		data.Types = append(data.Types, row)
	}
	slices.SortFunc(data.Types, func(a, b typeRow) int { return strings.Compare(a.Type, b.Type) })
	return data
}

// envoy returns the Envoy resources of a dataplane.
func (a *ask) envoy(d *resource.Dataplane) []envoyRow {
	built := a.Snapshots.Snapshot(d, xds.Envoy)
	var rows []envoyRow
	for t := range wire.Type(wire.NumTypes) {
		for _, r := range built.Resources(t) {
			e := envoyRow{Type: t.String(), Name: r.Name, Version: r.Version, Bytes: r.Size()}
			e.By = lists.Map(built.ShapedBy(r), func(p *resource.Policy) itemLink {
				return itemLink{p.Kind + " " + p.Qualified(), a.site.ofPolicy(&p.Meta), ""}
			})
			rows = append(rows, e)
		}
	}
	return rows
}

// warnings returns what the proxy of a dataplane does not get, or gets in another way.
func (a *ask) warnings(d *resource.Dataplane) []finding {
	list := lists.Map(a.Snapshots.Snapshot(d, xds.Envoy).Warnings(), xds.Warning.Diagnostic)
	return a.findingsOf(append(list, a.Snapshots.Weakened(d)...))
}
