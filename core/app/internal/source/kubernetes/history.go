package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

// history is what was known of a kind: all of its objects at a resource version. A cluster that was
// restored may have passed that version when it is listed again, with another history.
type history struct {
	version uint64            // 0: nothing was known
	known   map[string]uint64 // the resource versions of the objects; later ones are not part of the history
}

// earlier returns what was known of a kind before the list that runs.
func (k *kindWatch) earlier() history {
	if k.version > 0 {
		return history{k.version, k.known}
	}
	return k.before
}

// admits returns [source.ErrSetBack] if a listed object is not one of the history that goes on: it has an
// earlier version than it had, or one of a time at which it was not there.
func (h history) admits(kind *kindWatch, o *object) error {
	known := h.known[o.key]
	if o.version < known || o.version <= h.version && o.version != known {
		return fmt.Errorf("%w: %s %s is at resource version %d, and at %d it was not", source.ErrSetBack, kind.kind, o.key, o.version, h.version)
	}
	return nil
}

// missing returns the objects of the history that a list does not have, with their versions.
func (h history) missing(listed map[string]bool) map[string]uint64 {
	missing := map[string]uint64{}
	for key, version := range h.known {
		if !listed[key] && version <= h.version {
			missing[key] = version
		}
	}
	return missing
}

// deleted returns [source.ErrSetBack] if objects that a list does not have were not deleted: the store has
// another state at the version at which they were there. If that version is compacted, nothing is known.
func (f *storeFollow) deleted(ctx context.Context, kind *kindWatch, missing map[string]uint64, version uint64) error {
	query := url.Values{"resourceVersion": {strconv.FormatUint(version, 10)}, "resourceVersionMatch": {"Exact"}, "limit": {strconv.Itoa(4 * pageSize)}}
	if kind.selector != "" {
		query.Set("fieldSelector", kind.selector)
	}
	for len(missing) > 0 {
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []jsontext.Value `json:"items"`
		}
		if err := f.metadata(ctx, kind.path, query, &page); err != nil {
			if isExpired(err) || isUnsupported(err) || hasCode(err, http.StatusNotFound) {
				return nil
			}
			return err
		}
		for _, item := range page.Items {
			h, version, err := headOf(item)
			if err != nil {
				return err
			}
			if key := keyOf(&h); missing[key] == version {
				delete(missing, key)
			}
		}
		if page.Metadata.Continue == "" {
			break
		}
		query = url.Values{"limit": query["limit"], "continue": {page.Metadata.Continue}, "fieldSelector": query["fieldSelector"]}
	}
	for key := range missing {
		return fmt.Errorf("%w: %s %s, which it had at resource version %d, was not there", source.ErrSetBack, kind.kind, key, version)
	}
	return nil
}

// pageTimeout is the limit of a page without what is in the objects. All kinds wait for it.
var pageTimeout = 30 * time.Second

// metadata reads a page of a list, without what is in the objects.
func (s *Store) metadata(ctx context.Context, path string, query url.Values, page any) error {
	return s.read(ctx, pageTimeout, "not listed "+path+" within", path, query, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json", page)
}

// keepHistory records what is known of the kinds at the end of a Follow that yielded a complete state.
func (f *storeFollow) keepHistory() {
	if !f.complete {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.histories = maps.Clone(f.histories)
	if f.histories == nil {
		f.histories = map[groupKind]history{}
	}
	for _, kind := range f.kinds {
		if kind.version > 0 {
			f.histories[kind.groupKind] = history{kind.version, kind.known}
		}
	}
}

// history returns what was known of a kind at the end of the last Follow.
func (s *Store) history(kind groupKind) history {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.histories[kind]
}
