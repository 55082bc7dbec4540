package pages

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// place is a part of a dataplane with its effective confs: the whole proxy, an inbound or
// an outbound.
type place struct {
	ID, Title string
	Detail    string // address and tags
	Kinds     []placeKind
	Inbound   *inboundData // nil for other places
	Rows      int
	Shadowed  bool // a value would change if the policies that only inform were enforced
	Folded    bool
}

// placeKind is the confs of one kind at a place.
type placeKind struct {
	Kind, Href string
	Parts      []*part
}

// part is one conf: of a match, of clients, or of a route.
type part struct {
	When    string // "": the conf of the place
	Rows    []*row
	Entries bool // the rows are entries of permissions, which are not merged
}

// row is a field of a conf.
type row struct {
	Field, Value string
	By           *itemLink // nil: not set
	NoEffect     string    // why the proxy does not get it
	Default      bool      // set by Kuma's schema
	Collectors   []string  // to which references in the value lead
	Overridden   []overriddenRow
	// Shadow is the value if the policies that only inform were enforced; nil: the same.
	Shadow *shadowValue
	stays  bool // set if the policies that only inform were enforced
}

type overriddenRow struct {
	Value string
	By    *itemLink
}

// shadowValue is a value as it would be. Without By the field would not be set.
type shadowValue struct {
	Value string
	By    *itemLink
}

// itemLink is a link to an item of a policy.
type itemLink struct{ Text, Href, Source string }

// placer arranges the answers about a dataplane by place.
type placer struct {
	links
	d      *resource.Dataplane
	mesh   string
	places []*place
	byID   map[string]*place
	parts  map[string]*part
}

// newPlaces arranges the answer of inspect dataplane by place. Shadow is the answer with
// the policies that only inform; nil: the same.
func newPlaces(l links, d *resource.Dataplane, enforced, shadow *inspect.Dataplane) []*place {
	p := placer{links: l, d: d, mesh: d.Mesh, byID: map[string]*place{}, parts: map[string]*part{}}
	for i := range d.Inbounds {
		p.inboundPlace(i)
	}
	p.answer(enforced, p.enforced)
	if shadow != nil {
		p.answer(shadow, p.shadow)
	}
	for _, at := range p.places {
		slices.SortStableFunc(at.Kinds, func(a, b placeKind) int { return strings.Compare(a.Kind, b.Kind) })
		for _, k := range at.Kinds {
			for _, part := range k.Parts {
				at.Rows += len(part.Rows)
				for _, r := range part.Rows {
					if shadow != nil && r.By != nil && r.Shadow == nil && !r.stays {
						r.Shadow = &shadowValue{}
					}
					at.Shadowed = at.Shadowed || r.Shadow != nil
				}
			}
		}
	}
	return p.places
}

func (p *placer) place(id, title, detail string) *place {
	if at := p.byID[id]; at != nil {
		return at
	}
	at := &place{ID: id, Title: title, Detail: detail}
	p.byID[id], p.places = at, append(p.places, at)
	return at
}

func (p *placer) inboundPlace(i int) *place {
	in := &p.d.Inbounds[i]
	name := find.InboundName(p.d, i)
	detail := in.Tags.String()
	if in.Port != 0 && name != fmt.Sprint(in.Port) {
		detail = strings.TrimSpace(fmt.Sprintf("port %d %s", in.Port, detail))
	}
	return p.place(fmt.Sprintf("inbound-%d", i), "Inbound "+name, detail)
}

// put adds a conf or the entries of a rule at a place.
type put func(at *place, kind, when string, c *inspect.EffectiveConf, entries *inspect.Permission)

func (p *placer) answer(a *inspect.Dataplane, add put) {
	for i := range a.Policies {
		k := &a.Policies[i]
		if k.Default != nil {
			add(p.place("proxy", "Whole proxy", ""), k.Kind, "", k.Default, nil)
		}
		for j := range k.Inbounds {
			in := &k.Inbounds[j]
			p.rules(p.inboundPlace(j), k.Kind, in.Rules, in.From, in.Permissions, add)
		}
		for j := range k.Listeners {
			l := &k.Listeners[j]
			at := p.place(fmt.Sprintf("listener-%d", j), "Listener "+l.Listener.Name, strings.TrimSpace(l.Listener.Type+" "+l.Listener.Tags.String()))
			add(at, k.Kind, "", l.To, nil)
			for n := range l.Hosts {
				add(at, k.Kind, "host "+l.Hosts[n].Hostname, l.Hosts[n].EffectiveConf, nil)
			}
			p.rules(at, k.Kind, l.Rules, l.From, l.Permissions, add)
			if part := p.parts[at.ID+"\x00"+k.Kind+"\x00"]; part != nil && l.NoEffect != "" {
				for _, r := range part.Rows {
					r.NoEffect = l.NoEffect
				}
			}
		}
	}
	for i := range a.Policies {
		k := &a.Policies[i]
		for j := range k.Outbounds {
			o := &k.Outbounds[j]
			at := p.place(fmt.Sprintf("outbound-%d", j), "Outbound "+outboundTitle(&o.Outbound), o.Outbound.String())
			add(at, k.Kind, "", o.EffectiveConf, nil)
			for n := range o.Routes {
				add(at, k.Kind, "route "+o.Routes[n].Name, o.Routes[n].EffectiveConf, nil)
			}
		}
	}
}

// rules adds the rules of an inbound or a listener.
func (p *placer) rules(at *place, kind string, merged []inspect.InboundRule, from []inspect.SelectorRule, permissions []inspect.Permission, add put) {
	for i := range merged {
		add(at, kind, "when "+inspect.DescribeMatch(&merged[i].Match), merged[i].EffectiveConf, nil)
	}
	for i := range from {
		add(at, kind, "from "+inspect.DescribeClients(from[i].Selector), from[i].EffectiveConf, nil)
	}
	for i := range permissions {
		add(at, kind, "", nil, &permissions[i])
	}
}

// outboundTitle is the service of an outbound or, without one, its address.
func outboundTitle(o *inspect.OutboundRef) string {
	if service := o.Tags.Value(resource.ServiceTag); service != "" {
		return service
	}
	return o.String()
}

// placeAt returns the part of a place for a kind and a condition.
func (p *placer) placeAt(placeAt *place, kind, when string) *part {
	key := placeAt.ID + "\x00" + kind + "\x00" + when
	if known := p.parts[key]; known != nil {
		return known
	}
	part := &part{When: when}
	p.parts[key] = part
	i := slices.IndexFunc(placeAt.Kinds, func(k placeKind) bool { return k.Kind == kind })
	if i < 0 {
		i = len(placeAt.Kinds)
		placeAt.Kinds = append(placeAt.Kinds, placeKind{kind, with(p.ofMesh(p.mesh, "policies"), "kind", kind), nil})
	}
	placeAt.Kinds[i].Parts = append(placeAt.Kinds[i].Parts, part)
	return part
}

func (p *placer) enforced(at *place, kind, when string, c *inspect.EffectiveConf, entries *inspect.Permission) {
	switch {
	case entries != nil:
		part := p.placeAt(at, kind, when)
		part.Entries = true
		part.Rows = append(part.Rows, p.entryRows(kind, entries)...)
	case c != nil:
		part := p.placeAt(at, kind, when)
		part.Rows = p.confRows(kind, c)
	}
}

// confRows returns the fields of a conf, in the order of their pointers.
func (p *placer) confRows(kind string, c *inspect.EffectiveConf) []*row {
	tree := decoded(c.Conf)
	var rows []*row
	for _, pointer := range slices.SortedFunc(maps.Keys(c.Fields), inspect.ComparePointers) {
		o := c.Fields[pointer]
		rows = append(rows, &row{
			Field: pointer, Value: text(inspect.Lookup(tree, pointer)), By: p.item(kind, &o), NoEffect: o.NoEffect, Default: o.Default,
			Overridden: p.overridden(kind, c.Overridden[pointer]),
		})
	}
	for _, pointer := range slices.SortedFunc(maps.Keys(c.Collectors), inspect.ComparePointers) {
		for _, r := range rows {
			if pointer == r.Field || strings.HasPrefix(pointer, r.Field+"/") {
				r.Collectors = append(r.Collectors, c.Collectors[pointer].String())
			}
		}
	}
	// A value of a union or of a list may be overridden by one with other fields.
	for _, pointer := range slices.SortedFunc(maps.Keys(c.Overridden), inspect.ComparePointers) {
		if _, known := c.Fields[pointer]; !known {
			rows = append(rows, &row{Field: pointer, Overridden: p.overridden(kind, c.Overridden[pointer])})
		}
	}
	return rows
}

func (p *placer) overridden(kind string, values []inspect.OverriddenValue) []overriddenRow {
	return lists.MapPointers(values, func(v *inspect.OverriddenValue) overriddenRow {
		return overriddenRow{rawText(v.Value), p.item(kind, &v.ItemRef)}
	})
}

// entryRows returns the entries of a rule of permissions.
func (p *placer) entryRows(kind string, r *inspect.Permission) []*row {
	lists, _ := decoded(r.Conf).(map[string]any)
	var rows []*row
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		entries, _ := lists[name].([]any)
		for i, entry := range entries {
			rows = append(rows, &row{
				Field: fmt.Sprintf("/%s/%d", name, i), Value: matchText(entry),
				By: p.item(kind, &inspect.ItemRef{Item: r.Item, Source: r.Source}),
			})
		}
	}
	return rows
}

// matchText describes the conditions of an entry in words.
func matchText(entry any) string {
	data, err := conf.Marshal(entry)
	var m conf.Match
	if err != nil || json.Unmarshal(data, &m) != nil || m.Empty() {
		return text(entry)
	}
	return inspect.DescribeMatch(&m)
}

func (p *placer) item(kind string, o *inspect.ItemRef) *itemLink {
	link := p.links.item(p.mesh, kind, o.Item, o.Source)
	return &link
}

// shadow compares the answer with the policies that only inform with the rows so far.
func (p *placer) shadow(at *place, kind, when string, c *inspect.EffectiveConf, entries *inspect.Permission) {
	var rows []*row
	switch {
	case entries != nil:
		rows = p.entryRows(kind, entries)
	case c != nil:
		rows = p.confRows(kind, c)
	default:
		return
	}
	part := p.placeAt(at, kind, when)
	part.Entries = part.Entries || entries != nil
	for _, r := range part.Rows {
		r.stays = r.stays || entries != nil || c.Fields[r.Field].Item != ""
	}
	for _, would := range rows {
		if would.By == nil {
			continue
		}
		i := slices.IndexFunc(part.Rows, func(r *row) bool {
			return r.Field == would.Field && (entries == nil || r.By != nil && r.By.Text == would.By.Text)
		})
		switch {
		case i < 0:
			part.Rows = append(part.Rows, &row{Field: would.Field, Shadow: &shadowValue{would.Value, would.By}})
		case part.Rows[i].Value != would.Value || part.Rows[i].By == nil || part.Rows[i].By.Text != would.By.Text:
			part.Rows[i].Shadow = &shadowValue{would.Value, would.By}
		}
	}
}

// decoded returns the JSON of a value, decoded.
func decoded(value any) (tree any) {
	if data, err := conf.Marshal(value); err == nil {
		_ = json.Unmarshal(data, &tree) // it was just encoded
	}
	return tree
}

// text returns a decoded value for people: a text without quotes, else JSON.
func text(value any) string {
	switch value := value.(type) {
	case string:
		return diag.OneLine(value)
	case nil:
		return ""
	}
	data, err := conf.Marshal(value)
	if err != nil {
		return "cannot be shown: " + err.Error()
	}
	return diag.OneLine(string(data))
}

func rawText(value json.RawMessage) string {
	var tree any
	if len(value) == 0 || json.Unmarshal(value, &tree) != nil {
		return string(value)
	}
	return text(tree)
}

// mark is the title of a place in the list of places.
func (at *place) mark() string {
	if at.Shadowed {
		return at.Title + " ◌"
	}
	return at.Title
}

// summary is what a folded place has.
func (at *place) summary() string {
	if at.Shadowed {
		return count(at.Rows, "field") + ", ◌ some differ"
	}
	return count(at.Rows, "field")
}

// columns is the number of columns of a table of confs.
func (at *place) columns() int {
	if at.Shadowed {
		return 4
	}
	return 3
}
