package traffic

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/app/internal/replay"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Replay is the answer of `replay`: the results of access logs for the permissions of a mesh
// (SPEC 13.6).
type Replay struct {
	Semantics semantics.Semantics `json:"semantics"` // by which it was decided (SPEC 17.1)
	Records   int64               `json:"records"`   // well-formed lines
	Malformed int64               `json:"malformed"`
	Unknown   int64               `json:"unknown"` // records
	// Earlier are the records before ReplayQuery.Since. They are not in Records.
	Earlier int64 `json:"earlier,omitempty"`
	ReplayTimes
	// UnknownReasons are why records are unknown, the most frequent first.
	UnknownReasons []UnknownReason `json:"unknownReasons,omitempty"`
	// Differences are the records whose decisions are not all equal, the most frequent
	// first. Records with equal decisions by equal entries are one element.
	Differences []ReplayDifference `json:"differences"`
	// Changes are when the log's decisions changed, in the order of their times.
	Changes  []ReplayChange    `json:"changes"`
	NeverHit []inspect.Decider `json:"neverHit"` // entries of the inbounds of the log that decided about no record
	Unnamed  []string          `json:"unnamed"`  // SPIFFE IDs that no entry of their inbound names
	// MalformedLines are the first malformed lines, as FILE:LINE: why.
	MalformedLines []string `json:"-"`
	// Idle are the renamed fields that change no decision: headers that no entry compares.
	Idle []string `json:"-"`
}

// ReplayTimes are the times of the first and the last of some records, in UTC as in RFC 3339. They
// are left out if no record has a time.
type ReplayTimes struct {
	First *time.Time `json:"first,omitempty"`
	Last  *time.Time `json:"last,omitempty"`
}

func newReplayTimes(s replay.Span) ReplayTimes {
	if s.First.IsZero() {
		return ReplayTimes{}
	}
	return ReplayTimes{&s.First, &s.Last}
}

// ReplayChange is a change of the log's decisions about requests of some clients to an inbound.
// The inputs decide all of them by the same entry, so what was in force has changed.
type ReplayChange struct {
	From string `json:"from"`
	To   string `json:"to"`
	// After is the time of the last record with the former decision, Before that of the first
	// one with the later decision.
	After     time.Time `json:"after"`
	Before    time.Time `json:"before"`
	Dataplane string    `json:"dataplane"` // KRI
	Inbound   string    `json:"inbound"`
	Clients   int       `json:"clients"`
	SpiffeID  string    `json:"spiffeId,omitempty"` // of the first client
	Name      string    `json:"-"`                  // of the dataplane
}

// UnknownReason is a reason why records are unknown.
type UnknownReason struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
}

// ReplayDifference is a set of records with the same decisions in the log and by the
// inputs. An unknown decision is UNKNOWN and has an empty By. If several entries could
// have made a decision, By is also empty.
type ReplayDifference struct {
	Log    string            `json:"log"`
	Before inspect.Decision  `json:"before"`
	After  *inspect.Decision `json:"after,omitempty"`
	Count  int64             `json:"count"`
	ReplayTimes
	Example ReplayExample `json:"example"`
}

// ReplayExample is the request of a record.
type ReplayExample struct {
	Dataplane string `json:"dataplane"` // KRI
	Inbound   string `json:"inbound"`
	inspect.Witness
	Source string `json:"source,omitempty"` // file:line of the record; with Options.Source
	Name   string `json:"-"`                // of the dataplane
}

// ReplayQuery selects the logs to replay.
type ReplayQuery struct {
	Files    []string // or [replay.Stdin]
	Stdin    io.Reader
	Renamed  map[string]string // keys of fields, by name
	Since    time.Time         // of the first record to read; zero: all are read
	Progress *replay.Progress
}

// Changed reports whether there is a difference.
func (r *Replay) Changed() bool { return len(r.Differences) > 0 }

// NewReplay replays logs of the dataplanes of a mesh. After is nil if there is only one
// input. An error together with an answer means that a list exceeds a limit.
func NewReplay(ctx context.Context, before, after *core.View, mesh string, q ReplayQuery, options inspect.Options) (*Replay, error) {
	fields, err := ReplayFields(q.Renamed, mesh, before, after)
	if err != nil {
		return nil, err
	}
	in := &replay.Input{Files: q.Files, Stdin: q.Stdin, Fields: fields, Before: replayInbounds(before, mesh), Since: q.Since, Progress: q.Progress}
	last := before
	if after != nil {
		in.After, last = replayInbounds(after, mesh), after
	}
	result, err := replay.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	options.Semantics = last.Semantics()
	r := &Replay{
		Idle:      fields.Idle(),
		Semantics: options.Semantics, Records: result.Records, Malformed: result.Malformed, Unknown: result.Unknown,
		Earlier: result.Earlier, ReplayTimes: newReplayTimes(result.Times),
		Differences: []ReplayDifference{}, Changes: []ReplayChange{}, NeverHit: neverHit(last, mesh, result, options), Unnamed: append([]string{}, result.Unnamed...),
	}
	position := func(at replay.Position) string { return fmt.Sprintf("%s:%d", q.Files[at.File], at.Line) }
	r.MalformedLines = lists.Map(result.Noted, func(m replay.Malformed) string { return position(m.At) + ": " + m.Why.Error() })
	for reason, count := range result.Reasons {
		r.UnknownReasons = append(r.UnknownReasons, UnknownReason{reason, count})
	}
	slices.SortFunc(r.UnknownReasons, func(a, b UnknownReason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	slices.SortFunc(result.Differences, compareDifferences)
	for _, d := range result.Differences {
		shown := ReplayDifference{Log: replayDecision(d.Log, options).Decision, Before: replayDecision(d.Before, options), Count: d.Count, ReplayTimes: newReplayTimes(d.Times)}
		if after != nil {
			decision := replayDecision(d.After, options)
			shown.After = &decision
		}
		at := d.Inbound.Dataplane
		shown.Example = ReplayExample{Dataplane: inspect.DataplaneKRI(last, at), Inbound: find.InboundName(at, d.Inbound.Index), Witness: inspect.NewWitness(d.Request), Name: at.Qualified()}
		if options.Source {
			shown.Example.Source = position(d.At)
		}
		r.Differences = append(r.Differences, shown)
	}
	for _, c := range result.Changes {
		at := c.Inbound.Dataplane
		r.Changes = append(r.Changes, ReplayChange{
			From: permission.Decision{Allow: !c.Allow}.String(), To: permission.Decision{Allow: c.Allow}.String(), After: c.After, Before: c.Before,
			Dataplane: inspect.DataplaneKRI(last, at), Inbound: find.InboundName(at, c.Inbound.Index), Clients: c.Clients, SpiffeID: c.SpiffeID, Name: at.Qualified(),
		})
	}
	slices.SortFunc(r.Changes, func(a, b ReplayChange) int {
		return cmp.Or(a.Before.Compare(b.Before), a.After.Compare(b.After), strings.Compare(a.Dataplane, b.Dataplane), strings.Compare(a.Inbound, b.Inbound), strings.Compare(a.From, b.From))
	})
	if result.TooManyClients {
		return r, fmt.Errorf("changes: there are too many clients, so it is not known when decisions changed; give logs of fewer inbounds")
	}
	if result.TooManyUnnamed {
		return r, fmt.Errorf("unnamed: there are more than %d identities that no entry names; these are the first", replay.MaxUnnamed)
	}
	return r, nil
}

// compareDifferences is the order of answers.
func compareDifferences(a, b *replay.DisagreementGroup) int {
	return cmp.Or(cmp.Compare(b.Count, a.Count), compareVerdicts(&a.Log, &b.Log), compareVerdicts(&a.Before, &b.Before), compareVerdicts(&a.After, &b.After))
}

func compareVerdicts(a, b *replay.Verdict) int {
	rank := func(v *replay.Verdict) int {
		switch {
		case !v.Known:
			return 3
		case v.AnyOf:
			return 2
		case v.By.Policy == nil:
			return 1
		}
		return 0
	}
	order := cmp.Or(strings.Compare(replayWord(a), replayWord(b)), cmp.Compare(rank(a), rank(b)))
	if order != 0 || rank(a) > 0 {
		return order
	}
	x, y := &a.By, &b.By
	return cmp.Or(x.Policy.ID.Compare(y.Policy.ID), cmp.Compare(x.Rule, y.Rule), cmp.Compare(x.List, y.List), cmp.Compare(x.Index, y.Index))
}

func replayWord(v *replay.Verdict) string {
	if !v.Known {
		return "UNKNOWN"
	}
	return permission.Decision{Allow: v.Allow}.String()
}

func replayDecision(v replay.Verdict, options inspect.Options) inspect.Decision {
	d := inspect.Decision{Decision: replayWord(&v)}
	switch {
	case !v.Known, v.AnyOf:
	case v.By.Policy == nil:
		d.By = inspect.Decider{Default: true}
	default:
		d.By = inspect.NewDecider(&v.By, options)
	}
	return d
}

// ReplayFields returns the fields of records from which the permissions of a mesh can be
// decided, in each of the views that is not nil. The error is [find.ErrUsage].
func ReplayFields(renamed map[string]string, mesh string, views ...*core.View) (*replay.Fields, error) {
	var headers []string
	for _, view := range views {
		if view == nil {
			continue
		}
		for _, p := range permissionPolicies(view, mesh) {
			for _, e := range permission.EntriesOf(p) {
				if e.Match == nil {
					continue
				}
				for i := range e.Match.Headers {
					headers = append(headers, strings.ToLower(string(e.Match.Headers[i].Name)))
				}
			}
		}
	}
	slices.Sort(headers)
	fields, err := replay.NewFields(slices.Compact(headers), renamed)
	if err != nil {
		return nil, find.Usagef("%v", err)
	}
	return fields, nil
}

func permissionPolicies(view *core.View, mesh string) []*resource.Policy {
	return slices.DeleteFunc(view.Policies(mesh), func(p *resource.Policy) bool { return p.Type.Name != permission.KindName })
}

// neverHit returns the entries of the inbounds of a log that decided no record, sorted. Entries
// of policies that inform on all their dataplanes are omitted.
func neverHit(view *core.View, mesh string, result *replay.Result, options inspect.Options) []inspect.Decider {
	out := []inspect.Decider{}
	for _, p := range permissionPolicies(view, mesh) {
		if informsOnly(view, p) {
			continue
		}
		for _, e := range permission.EntriesOf(p) {
			if entry := replay.EntryOf(&e.Place); result.Asked[entry] && !result.Hits[entry] {
				out = append(out, inspect.NewDecider(&e.Place, options))
			}
		}
	}
	slices.SortStableFunc(out, func(a, b inspect.Decider) int { return strings.Compare(a.KRI, b.KRI) })
	return out
}

// informsOnly reports whether a policy selects dataplanes but is enforced on none.
func informsOnly(view *core.View, p *resource.Policy) bool {
	selected, _ := view.SelectedBy(p.ID) // the view contains the policy
	return len(selected) > 0 && !slices.ContainsFunc(selected, func(s core.Selection) bool { return s.Enforced })
}

// replayInbounds returns the inbounds of a mesh. Inbounds with equal permissions share a
// decider.
func replayInbounds(view *core.View, mesh string) *replay.Inbounds {
	type key struct {
		requests.Inputs
		space requests.Space
	}
	known := map[key]*replay.Decider{}
	var list []replay.Inbound
	for _, d := range view.Dataplanes(mesh) {
		config, applied, clients := requests.ConfigOf(view, d), view.PermissionsApply(d), requests.SpaceOf(view, d)
		for i := range d.Inbounds {
			k := key{requests.InputsOf(config, d, i, !applied), clients}
			k.space.Protocol = k.Protocol
			k.space.Plain, k.space.NoTags = false, false // what the certificate of a client has, the log shows
			decider := known[k]
			if decider == nil {
				decider = replay.NewDecider(func() (*permission.Permissions, *access.Space) {
					return k.space.Visible(requests.PermissionsOf(config, d, i, applied)), k.space.Access()
				})
				decider.EachID = k.space.Classic
				known[k] = decider
			}
			list = append(list, replay.Inbound{Dataplane: d, Index: i, Decider: decider})
		}
	}
	return replay.NewInbounds(list)
}

// NewReplayLog returns the MeshAccessLog of a mesh that writes the fields to a file.
func NewReplayLog(fields *replay.Fields, mesh, path string) (*resource.Policy, error) {
	format := &meshaccesslog.Format{Type: meshaccesslog.JSONFormat}
	format.JSON = lists.Map(fields.All(), func(field replay.Field) meshaccesslog.Field {
		return meshaccesslog.Field{Key: field.Key, Value: field.Operator}
	})
	return meshaccesslog.New(mesh, "replay").Rule(meshaccesslog.Conf{Backends: []meshaccesslog.Backend{{
		Type: meshaccesslog.FileBackend, File: &meshaccesslog.File{Path: conf.Path(path), Format: format},
	}}}).Policy()
}
