package pages

import (
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Commit is a commit. It is immutable.
type Commit struct {
	Number int       `json:"number"` // of the commit, from 1
	At     time.Time `json:"at"`
	First  bool      `json:"first,omitempty"` // the first load
	// Resources are the first resources that changed; More is the number of the others.
	Resources []ChangedResource `json:"resources"`
	More      int               `json:"more,omitempty"`
	// Meshes are the numbers of dataplanes whose configuration changed, by mesh.
	Meshes map[string]int `json:"dataplanes"`
	// Convergence is how many of the connected proxies had converged, in time; nil if no
	// proxy is served. Superseded reports that a later commit ended it.
	Convergence []Sample `json:"convergence,omitempty"`
	Superseded  bool     `json:"superseded,omitempty"`
}

// ChangedResource is a resource that a commit changed.
type ChangedResource struct {
	Action    string `json:"action"` // added, changed or removed
	Kind      string `json:"kind"`
	Mesh      string `json:"mesh,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Sample is a moment of a convergence.
type Sample struct {
	Milliseconds int64 `json:"ms"` // since the commit
	Converged    int   `json:"converged"`
	Of           int   `json:"of"` // connected proxies of dataplanes that the commit changed
}

// isIn reports whether a commit is about a mesh. The first load, and resources without a
// mesh, are about every mesh.
func (c *Commit) isIn(mesh string) bool {
	_, changed := c.Meshes[mesh]
	return c.First || changed || c.More > 0 || slices.ContainsFunc(c.Resources, func(r ChangedResource) bool { return r.Mesh == mesh || r.Mesh == "" })
}

// changesData is the data of the page of changes.
type changesData struct {
	Rows    []changeRow
	Proxies bool
}

// changeRow is a row of the list of changes.
type changeRow struct {
	Number      int
	Time        *timeText
	First       bool
	Resources   []changedRow
	More        int
	Dataplanes  int
	Convergence *convergencePlot
}

type changedRow struct{ Action, Kind, Name, Href string }

func (s *site) changes(a *ask) (*view, error) {
	v := &view{Title: "Changes", Section: "changes", Live: true}
	list := []Commit{} // not null in JSON
	for _, c := range s.Changes() {
		if c.isIn(a.mesh) {
			list = append(list, c)
		}
	}
	v.JSON = struct {
		Changes []Commit `json:"changes"`
	}{list}
	v.Data = changesData{a.changeRows(list, a.mesh), s.Proxies != nil}
	return v, nil
}

func (a *ask) changeRows(list []Commit, mesh string) []changeRow {
	return lists.MapPointers(list, func(c *Commit) changeRow {
		row := changeRow{Number: c.Number, Time: newTime(c.At, a.now), First: c.First, More: c.More, Convergence: newConvergencePlot(c)}
		for m, n := range c.Meshes {
			if mesh == "" || m == mesh {
				row.Dataplanes += n
			}
		}
		row.Resources = lists.Map(c.Resources, a.changed)
		return row
	})
}

// changed returns a resource with a link, if it is there and has a page.
func (a *ask) changed(r ChangedResource) changedRow {
	id := resource.ID{Kind: r.Kind, Mesh: r.Mesh, Namespace: r.Namespace, Name: r.Name}
	row := changedRow{Action: r.Action, Kind: r.Kind, Name: id.Qualified()}
	if d := a.View.Dataplane(id); d != nil && r.Kind == resource.DataplaneKind {
		row.Href = a.site.ofDataplane(&d.Meta)
	} else if p := a.View.Policy(id); p != nil {
		row.Href = a.site.ofPolicy(&p.Meta)
	}
	return row
}

// convergencePlot is the picture of a convergence: steps from left to right in a box of
// plotWidth by plotHeight.
type convergencePlot struct {
	Width, Height int
	Points        string // of the line
	Text          string // the same in words
	Done          bool
	Superseded    bool
	Converged, Of int
	Absent        bool // no proxy is connected
}

const (
	plotWidth  = 120
	plotHeight = 24
)

func newConvergencePlot(c *Commit) *convergencePlot {
	if len(c.Convergence) == 0 {
		return nil
	}
	last := c.Convergence[len(c.Convergence)-1]
	p := &convergencePlot{Width: plotWidth, Height: plotHeight, Converged: last.Converged, Of: last.Of, Done: last.Converged == last.Of, Superseded: c.Superseded, Absent: last.Of == 0}
	longest := max(last.Milliseconds, 1)
	var points []string
	previous := 0
	for i, sample := range c.Convergence {
		x, y := position(sample.Milliseconds, longest, plotWidth), plotHeight
		if sample.Of > 0 {
			y = plotHeight - sample.Converged*(plotHeight-2)/sample.Of - 1
		}
		if i > 0 {
			points = append(points, point(x, previous))
		}
		points = append(points, point(x, y))
		previous = y
	}
	// If all was there within a millisecond, the line has no width yet.
	points = append(points, point(plotWidth, previous))
	p.Points = strings.Join(points, " ")
	switch within := time.Duration(last.Milliseconds) * time.Millisecond; {
	case p.Absent:
		p.Text = "no proxy that it changes is connected"
	case p.Done:
		p.Text = "all " + diag.Count(last.Of, "proxy") + " within " + within.String()
	case p.Superseded:
		p.Text = thousands(last.Converged) + " of " + diag.Count(last.Of, "proxy") + " before the next change"
	default:
		p.Text = thousands(last.Converged) + " of " + diag.Count(last.Of, "proxy") + " after " + within.String()
	}
	return p
}
