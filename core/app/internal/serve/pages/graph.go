package pages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/traffic"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages/layered"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// accessGraph is a picture of which clients may call which services.
type accessGraph struct {
	Width, Height int
	Nodes         []graphNode
	Edges         []graphEdge
	// Open are the services that every client may call without a condition, and Closed are
	// those that no client may call. They are not in the picture.
	Open, Closed []string
}

type graphNode struct {
	X, Y, Width, Height int
	TextX, TextY        int
	Text, Title, Href   string
	Others              bool
}

type graphEdge struct {
	Path  string
	Some  bool // on a condition
	Title string
}

const (
	nodeHeight = 26
	nodePad    = 10
	graphPad   = 12 // around the picture
	maxChars   = 30
)

// graph returns the graph of the chosen clients and inbounds, or why there is none.
func (a *ask) graph(reach *traffic.Reach, c chosen, known *callers) (*accessGraph, string) {
	open := a.open(reach, c)
	calls := callsOf(reach, c, known, open)
	switch {
	case len(calls.names) == 0:
		return nil, "no client may call a service, or every client may call all of them"
	case len(calls.names) > maxNodes:
		return nil, fmt.Sprintf("it would have %s; it has at most %d", diag.Count(len(calls.names), "node"), maxNodes)
	case len(calls.list) > maxEdges:
		return nil, fmt.Sprintf("it would have %s, which no one can follow; choose a service", diag.Count(len(calls.list), "edge"))
	}
	g := a.picture(calls, known)
	for _, inbound := range c.inbounds {
		switch service := reach.Inbounds[inbound].Service; {
		case open[service]:
			g.Open = append(g.Open, service)
		case !calls.called[service]:
			g.Closed = append(g.Closed, service)
		}
	}
	g.Open, g.Closed = slices.Compact(g.Open), slices.Compact(g.Closed) // inbounds are sorted by service
	return g, ""
}

// calls are the calls between services that permissions allow.
type calls struct {
	names  []string // of the nodes
	number map[string]int
	list   []call
	all    map[call]bool   // without a condition, from some client to some inbound
	called map[string]bool // services that any client may call
}

// call is a pair of nodes, by their indexes.
type call struct{ from, to int }

// callsOf returns the calls of the chosen clients to the services that are not open.
func callsOf(reach *traffic.Reach, c chosen, known *callers, open map[string]bool) *calls {
	x := &calls{number: map[string]int{}, all: map[call]bool{}, called: map[string]bool{}}
	listed := map[call]bool{}
	for _, inbound := range c.inbounds {
		in := &reach.Inbounds[inbound]
		if open[in.Service] {
			continue
		}
		for _, client := range c.clients {
			cell := reach.Cell(client, inbound)
			if cell.Access != "all" && cell.Access != "some" {
				continue
			}
			x.called[in.Service] = true
			of := call{x.node(known.serviceOf(reach.Clients[client].ID)), x.node(in.Service)}
			if !listed[of] {
				listed[of] = true
				x.list = append(x.list, of)
			}
			if cell.Access == "all" {
				x.all[of] = true
			}
		}
	}
	return x
}

// node returns the index of a node, which may be new.
func (x *calls) node(name string) int {
	n, ok := x.number[name]
	if !ok {
		n = len(x.names)
		x.number[name] = n
		x.names = append(x.names, name)
	}
	return n
}

// picture arranges the nodes and edges of calls.
func (a *ask) picture(calls *calls, known *callers) *accessGraph {
	var graph layered.Graph
	graph.Nodes = lists.Map(calls.names, func(name string) layered.Size {
		return layered.Size{Width: textWidth(clipped(name)) + 2*nodePad, Height: nodeHeight}
	})
	graph.Edges = lists.Map(calls.list, func(of call) layered.Edge { return layered.Edge{From: of.from, To: of.to} })
	p := layered.Arrange(&graph, layered.Gaps{Node: 14, Bend: 7, Layer: 80})
	g := &accessGraph{Width: p.Width + 2*graphPad, Height: p.Height + 2*graphPad}
	for i, at := range p.Nodes {
		name := calls.names[i]
		n := graphNode{
			X: at.X + graphPad, Y: at.Y + graphPad, Width: graph.Nodes[i].Width, Height: nodeHeight,
			Text: clipped(name), Title: name, Others: name == traffic.OtherClients,
		}
		n.TextX, n.TextY = n.X+nodePad, n.Y+nodeHeight/2+4
		if !n.Others {
			n.Href = with(a.site.ofMesh(a.mesh, "access"), "service", name)
			if _, isService := known.ofService[name]; !isService {
				n.Href = with(a.site.ofMesh(a.mesh, "access"), "from", "spiffe://"+name)
			}
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i, of := range calls.list {
		if len(p.Edges[i]) == 0 {
			continue // a service that calls itself
		}
		e := graphEdge{Path: curve(p.Edges[i]), Some: !calls.all[of], Title: calls.names[of.from] + " may call " + calls.names[of.to]}
		if e.Some {
			e.Title += ", on a condition"
		}
		g.Edges = append(g.Edges, e)
	}
	return g
}

// open returns the services whose inbounds allow every client everything.
func (a *ask) open(reach *traffic.Reach, c chosen) map[string]bool {
	open := map[string]bool{}
	for _, inbound := range c.inbounds {
		service := reach.Inbounds[inbound].Service
		if _, known := open[service]; !known {
			open[service] = len(c.clients) > 1
		}
		for _, client := range c.clients {
			open[service] = open[service] && reach.Cell(client, inbound).Access == "all"
		}
	}
	for service, is := range open {
		if !is {
			delete(open, service)
		}
	}
	return open
}

// textWidth returns the width of a text in the font of the picture: 12 px, fixed.
func textWidth(text string) int { return len([]rune(text))*73/10 + 1 }

func clipped(name string) string {
	if runes := []rune(name); len(runes) > maxChars {
		return "…" + string(runes[len(runes)-maxChars+1:])
	}
	return name
}

// curve returns the path of an edge: curves that leave and enter horizontally.
func curve(points []layered.Point) string {
	var b strings.Builder
	at := func(p layered.Point) string {
		return strconv.Itoa(p.X+graphPad) + " " + strconv.Itoa(p.Y+graphPad)
	}
	b.WriteString("M" + at(points[0]))
	for i := 1; i < len(points); i++ {
		from, to := points[i-1], points[i]
		middle := (from.X + to.X) / 2
		b.WriteString("C" + at(layered.Point{X: middle, Y: from.Y}) + " " + at(layered.Point{X: middle, Y: to.Y}) + " " + at(to))
	}
	return b.String()
}
