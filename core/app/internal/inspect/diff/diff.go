package diff

import (
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Diff is the answer of `diff`: how the effective configuration of dataplanes
// changes from one view to another.
type Diff struct {
	Semantics semantics.Semantics `json:"semantics"` // of both views (SPEC 17.1)
	Meshes    []string            `json:"meshes"`    // that were compared
	// NotCompared are the resources that differ without a dataplane that shows the effect.
	NotCompared []NotCompared `json:"notCompared,omitempty"`
	// Groups are the dataplanes that change. Dataplanes with the same changes
	// form one group. Groups are sorted by their first dataplane.
	Groups []Group `json:"groups"`
	// Added and Removed are the sorted KRIs of the dataplanes that are in only one view.
	// They are in no group.
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	// AddedNames and RemovedNames are the names of these dataplanes, in the
	// same order.
	AddedNames, RemovedNames []string `json:"-"`
	// Opens and Closes are the inbounds of both views whose permissions newly
	// allow or newly deny some request of some client with any certificate. An
	// inbound can be in both. They are sorted by dataplane and inbound.
	Opens  []InboundOf `json:"opens"`
	Closes []InboundOf `json:"closes"`
	// Loses are the clients that may no longer call an inbound, sorted.
	Loses []Loss `json:"loses"`
	// Stays is what goes on for a while where access is taken, in the order of Closes.
	Stays []Stay `json:"stays,omitempty"`
	// Access describes these requests, as far as the inbound can receive them.
	// Dataplanes with the same changes form one element.
	Access []Access `json:"access,omitempty"`
	// Destinations are those of the mesh that change, sorted by identity; with
	// Options.Kind there are none.
	Destinations []Destination `json:"destinations,omitempty"`
	// Placements are the OCM policies whose action on a cluster changes. [New] sets none,
	// because clusters are of no mesh: see [NewPlacements].
	Placements []Placement `json:"placements,omitempty"`
	// Drains are the listeners of Envoys, of dataplanes in both views, whose connections
	// the edit closes, sorted by dataplane and listener (SPEC 11.8). [New] sets none:
	// see proxied.Comparison.
	Drains []Drain `json:"drains,omitempty"`
}

// Stay is a closed inbound whose open connections or streams keep the old decision (SPEC
// 11.8).
type Stay struct {
	Dataplane string `json:"dataplane"` // KRI
	Inbound   string `json:"inbound"`   // as in InboundOf
	// What is StaysStreams for an HTTP inbound and StaysConnections for a TCP inbound.
	What string `json:"what"`
	Name string `json:"-"` // of the dataplane
}

// What may stay.
const (
	StaysStreams     = "streams"     // open streams and upgrades, until they end
	StaysConnections = "connections" // open connections, until the drain time is over
)

// Drain is a listener whose connections an edit closes when the drain time is over.
type Drain struct {
	Dataplane string `json:"dataplane"` // KRI
	Listener  string `json:"listener"`
	// Because are the kinds of resources that change the listener, sorted.
	Because []string `json:"because"`
	// Removed reports that the listener goes.
	Removed bool          `json:"removed,omitempty"`
	Name    string        `json:"-"` // of the dataplane
	Pos     diag.Position `json:"-"` // of the dataplane
}

// Empty reports whether nothing changes.
func (d *Diff) Empty() bool {
	return len(d.NotCompared)+len(d.Groups)+len(d.Opens)+len(d.Closes)+len(d.Loses)+len(d.Added)+len(d.Removed)+len(d.Drains)+len(d.Destinations)+len(d.Placements) == 0
}

// OnlyNotCompared reports whether the only thing that is known of the edit is that it was not
// compared.
func (d *Diff) OnlyNotCompared() bool {
	without := *d
	without.NotCompared = nil
	return len(d.NotCompared) > 0 && without.Empty()
}

// Join returns the diffs of several meshes as one, in their order. All have the same
// semantics, which is given for an input without a mesh.
func Join(s semantics.Semantics, parts []*Diff) *Diff {
	if len(parts) == 0 {
		return newAnswer(s, []string{})
	}
	all := *parts[0]
	for _, part := range parts[1:] {
		all.Meshes = append(slices.Clip(all.Meshes), part.Meshes...)
		all.NotCompared = append(slices.Clip(all.NotCompared), part.NotCompared...)
		all.Groups = append(slices.Clip(all.Groups), part.Groups...)
		all.Added, all.AddedNames = append(slices.Clip(all.Added), part.Added...), append(slices.Clip(all.AddedNames), part.AddedNames...)
		all.Removed, all.RemovedNames = append(slices.Clip(all.Removed), part.Removed...), append(slices.Clip(all.RemovedNames), part.RemovedNames...)
		all.Opens, all.Closes = append(slices.Clip(all.Opens), part.Opens...), append(slices.Clip(all.Closes), part.Closes...)
		all.Loses = append(slices.Clip(all.Loses), part.Loses...)
		all.Stays = append(slices.Clip(all.Stays), part.Stays...)
		all.Access = append(slices.Clip(all.Access), part.Access...)
		all.Destinations = append(slices.Clip(all.Destinations), part.Destinations...)
		all.Drains = append(slices.Clip(all.Drains), part.Drains...)
	}
	return &all
}

// Group contains dataplanes with the same changes, sorted by identity.
type Group struct {
	Dataplanes []string     `json:"dataplanes"` // KRIs
	Changes    []ConfChange `json:"changes"`    // sorted by kind, place and field
	// Names are the names of the dataplanes, in the same order.
	Names []string `json:"-"`
}

// InboundOf identifies an inbound by its dataplane.
type InboundOf struct {
	Dataplane string `json:"dataplane"` // KRI
	Inbound   string `json:"inbound"`   // name, or address:port if the name is not unique
	Name      string `json:"-"`         // of the dataplane

	pos diag.Position // of the dataplane
}

// ConfChange is a change of one field of one conf.
type ConfChange struct {
	Kind  string        `json:"kind"`
	Place inspect.Place `json:"place"`
	// Field is the JSON pointer of a leaf of the conf. It is "" if the whole
	// conf begins or ceases to apply, and "order" for the order of an inbound's
	// rules. For permissions, which are not merged, it is the list of the
	// entry.
	Field string `json:"field"`
	// Before and After are JSON values; null if the leaf is not set. The
	// origins are the items that set it.
	Before       json.RawMessage  `json:"before"`
	After        json.RawMessage  `json:"after"`
	BeforeOrigin *inspect.ItemRef `json:"beforeOrigin,omitempty"`
	AfterOrigin  *inspect.ItemRef `json:"afterOrigin,omitempty"`
}

// New compares the dataplanes of one mesh that are in both views. It joins an error for
// each inbound whose rule views exceed their limit, and one if the answer would have too
// many changes of rules. Everything else is compared.
func New(before, after *core.View, mesh string, options inspect.Options) (*Diff, error) {
	scope := inspect.ScopeOf(options.Shadow)
	d, err := newDiff(side{before, options.Kind, scope}, side{after, options.Kind, scope}, mesh, options)
	if d == nil {
		return nil, err
	}
	d.NotCompared = notCompared(before, after, mesh, options.Kind)
	if options.Kind == "" {
		d.Destinations = destinations(before, after, mesh)
	}
	return d, err
}

// NewShadow compares the effective configuration of the dataplanes of a mesh
// with their configuration if the policies that only inform were enforced (SPEC
// 8.4). It returns the same errors as [New].
func NewShadow(view *core.View, mesh string, options inspect.Options) (*Diff, error) {
	return newDiff(side{view, options.Kind, core.Enforced}, side{view, options.Kind, core.Shadow}, mesh, options)
}

// side is one of the two compared configurations.
type side struct {
	view  *core.View
	kind  string // "": every kind
	scope core.Scope
}

// configs returns the configs of a dataplane; a nil dataplane has none.
func (s side) configs(d *resource.Dataplane) []*results.Config {
	return inspect.ConfigsOf(s.view, d, s.kind, s.scope)
}

// outbounds returns the outbounds of a dataplane with their confs by a config of the side.
func (s side) outbounds(config *results.Config, d *resource.Dataplane) []core.Outbound {
	list, _ := s.view.Outbounds(d, config.Kind.Name, s.scope) // the config is of the view, so there is no error
	return list
}

// points yields the inbounds and listeners of a dataplane with their rules by a config.
func (s side) points(config *results.Config, d *resource.Dataplane) iter.Seq2[inspect.Place, *results.InboundConfig] {
	return inspect.Points(s.view, config, d, s.scope)
}

// newAnswer returns an answer in which nothing changes.
func newAnswer(s semantics.Semantics, meshes []string) *Diff {
	return &Diff{Semantics: s, Meshes: meshes, Groups: []Group{}, Opens: []InboundOf{}, Closes: []InboundOf{}, Loses: []Loss{}, Added: []string{}, Removed: []string{}}
}

func newDiff(before, after side, mesh string, options inspect.Options) (*Diff, error) {
	d := differ{
		before: before, after: after, source: options.Source,
		flats:   [2]*flats{newFlats(before, mesh, options.Source), newFlats(after, mesh, options.Source)},
		fields:  flatPairs{},
		clients: &clientDiffs{views: ruleviews.New(options.Limits, false), known: map[fromPair]*clientsParts{}},
		budget:  ruleviews.NewBudget(options.MaxRules),
		groups:  map[string]*Group{},
		diff:    newAnswer(after.view.Semantics(), []string{mesh}),
	}
	both := d.deciders()
	d.entries = &entryDiffs{before: both.before, after: both.after, lists: map[*results.InboundConfig]entryList{}, known: map[entryPair][]entryKeyOf{}}
	byID := func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) }
	for old, next := range sorted.Join(before.view.Dataplanes(mesh), after.view.Dataplanes(mesh), byID) {
		if err := d.pair(pair{old, next}); err != nil {
			return nil, err
		}
	}
	for _, group := range d.groups {
		d.diff.Groups = append(d.diff.Groups, *group)
	}
	slices.SortFunc(d.diff.Groups, func(a, b Group) int { return strings.Compare(a.Dataplanes[0], b.Dataplanes[0]) })
	d.diff.Access, d.diff.Loses = d.access.all(), d.access.losses.all(&d)
	return d.diff, errors.Join(append(d.clients.errors(), d.access.err(), d.budget.Err())...)
}

// differ compares two sides.
type differ struct {
	before, after side
	source        bool
	flats         [2]*flats // of before and after
	fields        flatPairs
	clients       *clientDiffs
	entries       *entryDiffs
	access        accessDiffs
	budget        *ruleviews.Budget
	groups        map[string]*Group // by their changes
	diff          *Diff
}

// pair is a dataplane in both views; nil in a view that does not have it.
type pair struct{ before, after *resource.Dataplane }

// either returns the dataplane in the view that has it, the later one first.
func (p pair) either() *resource.Dataplane {
	if p.after != nil {
		return p.after
	}
	return p.before
}

// pair compares one dataplane, unless it is in only one view.
func (d *differ) pair(p pair) error {
	switch {
	case p.before == nil:
		d.diff.Added = append(d.diff.Added, inspect.DataplaneKRI(d.after.view, p.after))
		d.diff.AddedNames = append(d.diff.AddedNames, p.after.Qualified())
		return nil
	case p.after == nil:
		d.diff.Removed = append(d.diff.Removed, inspect.DataplaneKRI(d.before.view, p.before))
		d.diff.RemovedNames = append(d.diff.RemovedNames, p.before.Qualified())
		return nil
	}
	before, after := d.before.configs(p.before), d.after.configs(p.after)
	changes := d.changes(p, before, after)
	if err := d.access.add(d, p, before, after); err != nil {
		return err
	}
	d.access.losses.addClient(d, p)
	if egress := (pair{egressOf(d.before, p.before), egressOf(d.after, p.after)}); egress.before != nil && egress.after != nil {
		if err := d.access.add(d, egress, d.before.configs(egress.before), d.after.configs(egress.after)); err != nil {
			return err
		}
	}
	if len(changes) == 0 {
		return nil
	}
	key := content.Encode(changes)
	group := d.groups[string(key)]
	if group == nil {
		if !d.budget.Take(len(changes), "the changes of "+p.either().Name) {
			return nil
		}
		group = &Group{Changes: changes}
		d.groups[string(key)] = group
	}
	group.Dataplanes = append(group.Dataplanes, inspect.DataplaneKRI(d.after.view, p.either()))
	group.Names = append(group.Names, p.either().Qualified())
	return nil
}

// egressOf returns a dataplane that has the egress listeners of another one as inbounds, or
// nil if there are none. Permissions act on them as on inbounds of HTTP (SPEC 17.4).
func egressOf(s side, d *resource.Dataplane) *resource.Dataplane {
	if s.view.Semantics() == semantics.TargetRef || !slices.ContainsFunc(d.Listeners, func(l resource.Listener) bool { return l.Egress }) {
		return nil
	}
	only := *d
	only.Listeners = slices.DeleteFunc(slices.Clone(d.Listeners), func(l resource.Listener) bool { return !l.Egress })
	return only.ListenersAsInbounds("http")
}

func (d *differ) changes(p pair, before, after []*results.Config) []ConfChange {
	equal := d.equalOutbounds(p, before, after)
	old, next := newLeaves(d.before, before, p.before, d.flats[0], equal), newLeaves(d.after, after, p.after, d.flats[1], equal)
	ruleOrdersOf(d.before, before, p.before).add(ruleOrdersOf(d.after, after, p.after), old, next)
	d.clients.add(d, p, before, after, old, next)
	d.addFields(old, next)
	d.entries.add(d, p, before, after, old, next)
	return changesOf(old, next)
}

// addFields adds the fields of confs that differ to the leaves of each view.
func (d *differ) addFields(old, next *leaves) {
	add := func(key leafKey, a, b placedConf) {
		place := cmp.Or(b.place, a.place)
		for _, field := range d.fields.differ(a.flatConf, b.flatConf) {
			key.field = field
			if x, has := a.leaves()[field]; has {
				x.place = place
				old.at[key] = x
			}
			if y, has := b.leaves()[field]; has {
				y.place = place
				next.at[key] = y
			}
		}
	}
	for key, a := range old.confs {
		add(key, a, next.confs[key])
	}
	for key, b := range next.confs {
		if _, both := old.confs[key]; !both {
			add(key, placedConf{}, b)
		}
	}
}

func changesOf(old, next *leaves) []ConfChange {
	keys := differing(old.at, next.at)
	slices.SortFunc(keys, leafKey.compare)
	return lists.Map(keys, func(key leafKey) ConfChange {
		a, b := old.at[key], next.at[key]
		return ConfChange{
			Kind: key.kind, Place: *cmp.Or(b.place, a.place), Field: key.field,
			Before: a.value, After: b.value, BeforeOrigin: a.origin, AfterOrigin: b.origin,
		}
	})
}
