package source

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Source is where resources are kept: [Files], or a [Stored] store such as etcd.
type Source interface {
	// String returns the name of the source for messages, without secrets.
	String() string
	// Watch yields the first state, and then each state that differs, until the context
	// ends. Then it ends soon, even while the source cannot be reached. It yields either
	// an update or an error, never both.
	//
	// An error changes nothing: the state of the last update stays in effect, and the
	// sequence continues. It is a [diag.Errors] if resources are invalid, and a [*Loss]
	// if the source cannot be read. Otherwise it is the reason why its newest state
	// cannot be used. After errors an update follows when the source is good again, even
	// if its batch is empty. The caller must not change what it gets.
	Watch(ctx context.Context) iter.Seq2[*Update, error]
}

// Revision numbers the states of one source: a later state has a larger number. Numbers
// may be left out. The first state has at least 1.
type Revision int64

// Update is a state of a source.
type Update struct {
	// Set contains all resources.
	Set *resource.Set
	// Batch is the difference from the previous update; see [Update.Changed].
	Batch core.Batch
	// Revision is the revision of the state. It is never smaller than in an earlier update.
	Revision Revision
	// Store means that the state is, at least in part, of a store. Stores are the parts of
	// each store, in the order of their sources.
	Store  bool
	Stores []StoreState
	// Current is when the source last confirmed that this is its newest state. Of several
	// stores it is the oldest such time.
	Current time.Time
	// Found is when the change was found.
	Found time.Time
	// Invalid are the objects of a store whose newest version is not in the set, in the order of
	// their positions.
	Invalid []Invalid
	// reserved are the Secrets that are not in the set because of them; nil: none.
	reserved *reservations
	// Kept is set if the state comes from an earlier process, because the source cannot
	// be read.
	Kept *Kept
	// Recording is the content of the source, to be kept or discarded by the caller. It
	// is nil if it was not recorded, and can be used all the same.
	Recording *Recording
}

// StoreState is the part of an update that is of one store.
type StoreState struct {
	Name     string
	Revision Revision
	Current  time.Time // when the store last confirmed that this is its newest state
	Kept     bool      // the state comes from an earlier process
}

// Changed reports whether the update has other resources than the previous one. Without,
// the update only confirms the state, or its invalid objects changed.
func (u *Update) Changed() bool { return !isEmpty(&u.Batch) }

// Kept describes a state that an earlier process kept.
type Kept struct {
	Path string // of the file
	At   time.Time
}

// Invalid is an object of a store that does not load (SPEC 14.3).
type Invalid struct {
	Kind   string            // of the object; empty: unknown
	At     string            // the position of the object
	Errors []diag.Diagnostic // at least one
	Since  time.Time         // when it was first found to be invalid
	Effect Effect
	// LastGood is the position of the version that stays in effect, with [EffectLastGood].
	LastGood string
}

// Effect is what is in effect for an object that does not load.
type Effect uint8

// The effects.
const (
	EffectNone     Effect = iota // the object is left out
	EffectLastGood               // its last good version
	EffectDeny                   // a permission that was never good: all clients are denied
)

// String returns "none", "last good" or "deny".
func (e Effect) String() string { return [...]string{"none", "last good", "deny"}[e] }

// Loss is the error of a source that cannot be read.
type Loss struct {
	Source string    // its name
	Since  time.Time // when it last confirmed its state; zero: never in this process
	Err    error
}

// Error implements error.
func (l *Loss) Error() string { return fmt.Sprintf("%s cannot be read: %v", l.Source, l.Err) }

// Unwrap returns the cause.
func (l *Loss) Unwrap() error { return l.Err }
