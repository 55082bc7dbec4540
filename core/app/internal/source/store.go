package source

import (
	"context"
	"errors"
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Store is a service that keeps each resource in an object of its own. [Stored] makes a
// [Source] of it. A Store only reports what is stored: it does not decode documents, does
// not connect again, and keeps no history.
//
// It is safe for concurrent use.
type Store interface {
	// String returns the name of the store for messages, without secrets.
	String() string
	// Follow connects to the store and yields its states as pages, from the state after
	// since. The sequence ends with the context, or with its first error: the store was
	// lost, or [ErrSetBack]. The caller then calls Follow again.
	//
	// The first page comes as soon as the store has answered. While nothing changes,
	// empty pages confirm the state at least once a second. A page may not be changed
	// once it was yielded.
	Follow(ctx context.Context, since Since) iter.Seq2[*Page, error]
}

// Since is the state that the caller of [Store.Follow] has.
type Since struct {
	// Revision is the revision of the state; 0: there is none. Older states are never yielded.
	Revision Revision
	// List requests all objects. Otherwise the store may begin with the changes since
	// Revision, or with all objects if it does not have these changes any longer.
	List bool
}

// Page is a part of a state of a store.
type Page struct {
	// Revision is the revision of the state.
	Revision Revision
	// Full means that a list of all objects begins: an object that is not in this page,
	// or a later one of the list, does not exist. Otherwise the page has what changed.
	Full bool
	// More means that the state is not complete without the pages that follow, so
	// nothing of it may be used yet.
	More bool
	// Objects are in any order, except that later versions of a key follow earlier ones.
	Objects []Object
	// Held is the reason why what is stored is not a state that may be used, such as an edit
	// that was interrupted; empty: there is none. Then More is set.
	Held string
}

// Object is an object of a store.
type Object struct {
	// Key identifies the object in the store.
	Key string
	// At is the name of this version of the object in positions. A version with other
	// content has another name. It is not needed if the object is deleted.
	At string
	// Data is the document; nil: the object was deleted.
	Data []byte
	// ID is the identity that the document must have. The Kind may be given without a
	// name; then nothing is compared, and the kind is used if the document cannot be read.
	ID resource.ID
	// AnyMesh means that the document chooses the mesh: ID has none.
	AnyMesh bool
	// Flaw is why no resource can have the key; empty: one can. With a flaw, the document is
	// an error regardless of its content.
	Flaw string
	// Whole means that lines and columns of the document have no meaning for a reader.
	Whole bool
}

// fits reports whether a document of the object may have an identity.
func (o *Object) fits(id resource.ID) bool {
	if o.AnyMesh {
		id.Mesh = ""
	}
	if o.ID.Kind == "ConfigMap" { // it holds a resource of another kind
		id.Kind = o.ID.Kind
	}
	return o.ID.Name == "" || id == o.ID
}

var (
	// ErrSetBack indicates that the state of a store is older than what it had before,
	// such as after a backup was restored.
	ErrSetBack = errors.New("the store was set back")

	// ErrIncomplete indicates that an edit of a store is not complete, so that its state is
	// not used.
	ErrIncomplete = errors.New("an edit of the store is not complete")
)

// origin returns who wrote the document: people write to etcd, and the API of Kubernetes gives
// what control planes store.
func (o *Object) origin() resource.InputOrigin {
	if o.Whole {
		return resource.InputStored
	}
	return resource.InputWritten
}
