package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// cache keeps the findings of the last state that was asked for. They take long for a large
// mesh, so a page waits for them a short time only. While states follow each other, they
// take at most a fifth of the time.
type cache struct {
	mu   sync.Mutex
	last *checked
}

// checked is the answer of `check` about a state. The fields after done are set when it is
// closed.
type checked struct {
	of    *snapshot.State
	begin time.Time
	done  chan struct{}

	answer *check.Check
	all    []diag.Diagnostic // errors, then warnings
	err    error
	at     map[diag.Position][]int // indexes in all, by the position of the resource
	pause  time.Time               // until then, they are good enough for lists
}

// checkTimeout limits how long findings are sought.
const checkTimeout = 2 * time.Minute

// check returns the findings of a state, which may still be sought. If they were sought a
// moment ago for an earlier state, it returns those, unless they must be of this state.
func (s *site) check(state *proxied.State, exact bool) *checked {
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	// There is one search at a time.
	if last := s.cache.last; last != nil && (!last.isDone() || last.of == state.Snapshots || !exact && time.Now().Before(last.pause)) {
		return last
	}
	c := &checked{of: state.Snapshots, begin: time.Now(), done: make(chan struct{})}
	s.cache.last = c
	go func() {
		defer close(c.done)
		ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
		defer cancel()
		c.find(ctx, state, s.TLS)
		took := time.Since(c.begin)
		c.pause = c.begin.Add(5 * took)
	}()
	return c
}

// checkNow waits for the findings of exactly this state, and reports whether they are there
// in time.
func (s *site) checkNow(ctx context.Context, state *proxied.State, d time.Duration) (*checked, bool) {
	end := time.Now().Add(d)
	for {
		c := s.check(state, true)
		if !c.wait(ctx, time.Until(end)) || c.of == state.Snapshots {
			return c, c.ready() && c.of == state.Snapshots
		}
	}
}

func (c *checked) find(ctx context.Context, state *proxied.State, tls bool) {
	defer func() {
		if reason := recover(); reason != nil {
			c.err = errors.New("the findings cannot be computed")
		}
	}()
	answer, err := proxied.NewCheck(ctx, state.Snapshots, state.Set, tls)
	var mistakes diag.Errors
	if err != nil && !errors.As(err, &mistakes) {
		c.err = err
		return
	}
	c.answer, c.all = answer, append(slices.Clone(mistakes), answer.Warnings...)
	if mistakes != nil { // as the command answers
		c.answer = &check.Check{Resources: map[string]int{}, Skipped: map[string]int{}, Errors: mistakes, Warnings: []diag.Diagnostic{}}
	}
	positions := state.Set.Positions()
	slices.SortFunc(positions, comparePositions)
	c.at = map[diag.Position][]int{}
	for i := range c.all {
		if of, ok := resourceAt(positions, c.all[i].Pos); ok {
			c.at[of] = append(c.at[of], i)
		}
	}
}

func comparePositions(a, b diag.Position) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// resourceAt returns the last of the sorted positions that is not after pos in its file.
func resourceAt(positions []diag.Position, pos diag.Position) (diag.Position, bool) {
	i, exact := slices.BinarySearchFunc(positions, pos, comparePositions)
	if !exact {
		i--
	}
	if i < 0 || positions[i].File != pos.File || pos.Line == 0 {
		return diag.Position{}, false
	}
	return positions[i], true
}

// wait waits until the findings are there, or until the time ends. It reports whether
// they are there.
func (c *checked) wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-c.done:
	case <-time.After(d):
	case <-ctx.Done():
	}
	return c.ready()
}

func (c *checked) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// ready reports whether the findings are there.
func (c *checked) ready() bool { return c.isDone() && c.err == nil }

// failed reports whether the findings cannot be computed.
func (c *checked) failed() bool { return c.isDone() && c.err != nil }

// about returns the findings about a resource.
func (c *checked) about(pos diag.Position) []diag.Diagnostic {
	return lists.Map(c.at[pos], func(i int) diag.Diagnostic { return c.all[i] })
}

// count returns the number of findings about a resource.
func (c *checked) count(m *resource.Meta) int { return len(c.at[m.Pos]) }

// matches reports whether a finding is of a code or of a class.
func matches(d *diag.Diagnostic, word string) bool {
	class := string(d.Code.Class())
	return strings.EqualFold(word, d.Code.String()) || strings.EqualFold(word, class) ||
		strings.EqualFold(word, "warning") && d.Code.Class() != diag.ClassError || strings.EqualFold(word, "any")
}

// finding is a finding with its explanation and its place.
type finding struct {
	Code, Class, Title, Means, Mend string
	Where, Path, What, Hint         string
	Href                            string // of the resource
	Subject                         string
	Line                            int
}

// findingsOf arranges findings for a page.
func (a *ask) findingsOf(list []diag.Diagnostic) []finding {
	return lists.MapPointers(list, func(d *diag.Diagnostic) finding {
		definition := d.Code.Definition()
		return finding{
			Code: d.Code.String(), Class: string(d.Code.Class()), Title: definition.Title, Means: definition.Means, Mend: definition.Mend,
			Where: whereOf(d.Pos), Path: d.Path, What: diag.OneLine(d.What), Hint: diag.OneLine(d.Hint), Line: d.Pos.Line,
		}
	})
}

// whereOf returns the file and the line; the file without its directories, which are the
// same for most.
func whereOf(p diag.Position) string {
	if p.File == "" {
		return ""
	}
	p.File = path.Base(p.File)
	p.Column = 0
	if p.Line == 0 {
		return p.File
	}
	return strings.TrimSuffix(p.String(), ":0")
}

// subjects are the policies and dataplanes of a state by their positions.
type subjects struct {
	positions []diag.Position
	metas     map[diag.Position]*resource.Meta
}

func (a *ask) subjects() *subjects {
	s := &subjects{positions: a.Set.Positions(), metas: map[diag.Position]*resource.Meta{}}
	slices.SortFunc(s.positions, comparePositions)
	for _, p := range a.Set.Policies {
		s.metas[p.Pos] = &p.Meta
	}
	for _, d := range a.Set.Dataplanes {
		s.metas[d.Pos] = &d.Meta
	}
	return s
}

// link adds the links to the resources of findings.
func (a *ask) link(list []finding, of []diag.Diagnostic) {
	s := a.subjects()
	for i := range list {
		pos, ok := resourceAt(s.positions, of[i].Pos)
		m := s.metas[pos]
		if !ok || m == nil {
			continue
		}
		list[i].Subject = m.Kind + " " + m.Qualified()
		if m.Kind == resource.DataplaneKind {
			list[i].Href = a.site.ofDataplane(m)
		} else {
			list[i].Href = a.site.ofPolicy(m) + "#" + lineID(of[i].Pos.Line)
		}
	}
}

// findingsData is the data of the page of findings.
type findingsData struct {
	Findings []finding
	Classes  []classCount
	Of       string // the code or class that is shown; "": all
	All      int
	Pending  bool
	Pager    pager
	Load     []string // errors of the last load, which is not served
}

// classCount is a class of findings.
type classCount struct {
	Class, Means, Href string
	Count              int
	Current            bool
}

// classMeans describes the classes of findings that `check` has.
var classMeans = map[diag.Class]string{
	diag.ClassError:     "the proxies cannot be served",
	diag.ClassWarning:   "likely mistakes",
	diag.ClassNoEffect:  "valid, without an effect",
	diag.ClassRedundant: "without it every answer is the same",
	diag.ClassConflict:  "parts that contradict each other",
	diag.ClassMigration: "other versions read it differently",
	diag.ClassLimit:     "unknown, because a limit was exceeded",
}

func (s *site) classes(c *checked, of string) []classCount {
	counts := map[diag.Class]int{}
	for i := range c.all {
		counts[c.all[i].Code.Class()]++
	}
	var list []classCount
	for _, class := range diag.Classes() {
		if counts[class] > 0 {
			list = append(list, classCount{string(class), classMeans[class], with(s.to("findings"), "q", string(class)), counts[class], strings.EqualFold(of, string(class))})
		}
	}
	return list
}

func (s *site) findings(a *ask) (*view, error) {
	v := &view{Title: "Findings", Section: "findings"}
	patience := 5 * time.Second
	if a.wantsJSON() {
		patience = checkTimeout / 4
	}
	c, found := s.checkNow(a.Context(), a.State, patience)
	if !found {
		if c.failed() {
			return nil, problem{http.StatusServiceUnavailable, c.err}
		}
		if a.wantsJSON() {
			return nil, problem{http.StatusServiceUnavailable, errors.New("the findings are being computed; ask again later")}
		}
		v.Data, v.Live = findingsData{Pending: true}, true
		return v, nil
	}
	v.JSON = c.answer
	of := strings.TrimSpace(a.form.Get("q"))
	data := findingsData{Of: of, All: len(c.all), Classes: s.classes(c, of)}
	if s.Load != nil {
		data.Load = s.Load().Errors
	}
	list := lists.Filter(c.all, func(d diag.Diagnostic) bool { return of == "" || matches(&d, of) })
	n, err := a.pageNumber()
	if err != nil {
		return nil, err
	}
	data.Pager = a.pager(n, len(list))
	list = list[data.Pager.from:data.Pager.to]
	data.Findings = a.findingsOf(list)
	a.link(data.Findings, list)
	v.Data = data
	return v, nil
}
