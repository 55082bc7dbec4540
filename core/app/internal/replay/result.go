package replay

import (
	"cmp"
	"context"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Input contains logs, and the inbounds that decide their requests.
type Input struct {
	Files         []string  // or [Stdin]
	Stdin         io.Reader // may be nil if no file is [Stdin]
	Fields        *Fields
	Before, After *Inbounds // After is nil if there is only one input
	// Since is the time of the first records that are read; zero reads all. Then a record
	// without a time is unknown.
	Since    time.Time
	Progress *Progress // may be nil
}

// Result contains the results of the logs.
type Result struct {
	Records, Malformed, Unknown int64 // malformed lines are not records
	Earlier                     int64 // records before Input.Since, which are not in Records
	// Times are of the records that have one.
	Times Span
	// Changes are in the order of their inbounds and times. They are nil if TooManyClients.
	Changes        []*DecisionChange
	TooManyClients bool // for the changes to be found
	// Noted are the first malformed lines, in order.
	Noted []Malformed
	// Reasons maps each reason why records are unknown to their number.
	Reasons map[string]int64
	// Differences are in no order.
	Differences []*DisagreementGroup
	// Hits contains the entries that decided a record: entries of After or, if After
	// is nil, of Before.
	Hits map[Entry]bool
	// Asked contains the entries of the inbounds of the records.
	Asked map[Entry]bool
	// Unnamed are the sorted SPIFFE IDs that no entry of their inbound names. If there are
	// more than a limit, it contains the first ones, and TooManyUnnamed is true.
	Unnamed        []string
	TooManyUnnamed bool
}

// MaxUnnamed is the limit of [Result.Unnamed].
const MaxUnnamed = maxUnnamed

// Malformed is a line that is not a record.
type Malformed struct {
	At  Position
	Why error
}

// Position is a line of a file.
type Position struct {
	File int // index in Input.Files
	Line int64
}

func (p Position) compare(other Position) int {
	return cmp.Or(cmp.Compare(p.File, other.File), cmp.Compare(p.Line, other.Line))
}

// Entry identifies an entry of rules or an item of `from`.
type Entry struct {
	Policy      resource.ID
	Rule, Index int
	List        permission.List
}

// EntryOf returns the entry at a place.
func EntryOf(at *permission.Place) Entry { return Entry{at.Policy.ID, at.Rule, at.Index, at.List} }

// Outcome contains the decisions about a record: in the log and by the inputs. After is
// the zero Verdict if there is only one input.
type Outcome struct{ Log, Before, After Verdict }

// DisagreementGroup is a set of records with the same outcome, whose decisions differ
// from each other.
type DisagreementGroup struct {
	Outcome
	Count int64
	Times Span // of the records that have a time
	// Inbound and Request belong to one of the records: the first in an order of requests.
	Inbound *Inbound
	Request *request.Request
	At      Position // of the first such record
}

// exemplify makes a request the example if it precedes the current example.
func (d *DisagreementGroup) exemplify(in *Inbound, r *request.Request, at Position) {
	if d.Request != nil {
		order := cmp.Or(in.compare(d.Inbound), compareRequests(r, d.Request))
		if order > 0 || order == 0 && at.compare(d.At) >= 0 {
			return
		}
	}
	d.Inbound, d.Request, d.At = in, cloned(r), at
}

// compareRequests is a total order of requests.
func compareRequests(a, b *request.Request) int {
	return cmp.Or(
		strings.Compare(a.SpiffeID, b.SpiffeID), strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method), strings.Compare(a.SNI, b.SNI),
		slices.CompareFunc(a.Headers, b.Headers, func(x, y request.Header) int {
			return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Value, y.Value))
		}),
		slices.CompareFunc(a.Tags, b.Tags, func(x, y resource.Tag) int {
			return cmp.Or(strings.Compare(x.Key, y.Key), strings.Compare(x.Value, y.Value))
		}),
	)
}

// cloned returns a copy of a request whose texts are not parts of a batch.
func cloned(r *request.Request) *request.Request {
	out := &request.Request{
		SpiffeID: strings.Clone(r.SpiffeID), SNI: strings.Clone(r.SNI), Method: strings.Clone(r.Method), Path: strings.Clone(r.Path),
		Tags: slices.Clone(r.Tags), Headers: slices.Clone(r.Headers),
	}
	for i := range out.Tags {
		out.Tags[i] = resource.Tag{Key: strings.Clone(out.Tags[i].Key), Value: strings.Clone(out.Tags[i].Value)}
	}
	for i := range out.Headers {
		out.Headers[i] = request.Header{Name: strings.Clone(out.Headers[i].Name), Value: strings.Clone(out.Headers[i].Value)}
	}
	return out
}

// Run reads the logs. The error is about a file, or the error of the context.
func Run(ctx context.Context, in *Input) (*Result, error) {
	r := &reader{files: in.Files, stdin: in.Stdin, progress: cmp.Or(in.Progress, new(Progress))}
	tallies := make([]*tally, runtime.GOMAXPROCS(0))
	batches := make(chan *batch, len(tallies))
	var done sync.WaitGroup
	for i := range tallies {
		tallies[i] = newTally(in)
		done.Go(func() {
			for b := range batches {
				tallies[i].add(b)
				r.batches.Put(b)
			}
		})
	}
	err := r.read(ctx, batches)
	close(batches)
	done.Wait()
	if err != nil {
		return nil, err
	}
	return joined(tallies), nil
}

// joined adds the counts of several goroutines.
func joined(tallies []*tally) *Result {
	all := tallies[0]
	for _, t := range tallies[1:] {
		all.Records += t.Records
		all.Earlier += t.Earlier
		all.Times.join(t.Times)
		all.Malformed += t.Malformed
		all.Unknown += t.Unknown
		all.Noted = append(all.Noted, t.Noted...)
		for why, count := range t.Reasons {
			all.Reasons[why] += count
		}
		for o, d := range t.differences {
			if known := all.differences[o]; known != nil {
				known.Count += d.Count
				known.Times.join(d.Times)
				known.exemplify(d.Inbound, d.Request, d.At)
			} else {
				all.differences[o] = d
			}
		}
		maps.Copy(all.Hits, t.Hits)
		maps.Copy(all.Asked, t.Asked)
		all.courses.join(&t.courses)
		maps.Copy(all.unnamed, t.unnamed)
		all.TooManyUnnamed = all.TooManyUnnamed || t.TooManyUnnamed
	}
	all.firstUnnamed()
	result := all.Result
	result.Noted = firstNoted(all.Noted)
	result.Changes, result.TooManyClients = all.courses.changes(), all.courses.tooMany
	result.Differences, result.Unnamed = slices.Collect(maps.Values(all.differences)), slices.Sorted(maps.Keys(all.unnamed))
	return &result
}
