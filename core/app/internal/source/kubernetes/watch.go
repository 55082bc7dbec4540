package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
)

// news is what the goroutine of a kind passes on.
type news struct {
	kind    *kindWatch
	missing bool     // the server does not serve the kind now
	begins  bool     // a list of all objects begins
	objects []object // each key once
	ends    bool     // the list is complete
	version uint64   // the resource version that the kind has reached; 0: not known yet
	err     error    // the kind cannot be followed any longer
}

const (
	pageSize = 500
	// shortWatch is how long a watch should last at least, so that a server that ends each
	// watch at once is not asked without a pause.
	shortWatch = time.Second
	// busy is how long a server that is busy is left alone.
	busy = 500 * time.Millisecond
)

// follower lists and watches one kind until its context ends.
type follower struct {
	store *Store
	kind  *kindWatch
	out   chan<- news
	at    uint64 // the resource version that was reached
}

// run follows the kind. It passes on one error at most, as its last news. A kind that is
// missing is requested again until the context ends: discovery decides whether the kind is
// no longer served.
func (f *follower) run(ctx context.Context) {
	err := f.follow(ctx)
	for hasCode(err, http.StatusNotFound) {
		if err = f.send(ctx, news{missing: true}); err == nil {
			source.Sleep(ctx, busy)
			err = f.follow(ctx)
		}
	}
	if ctx.Err() == nil {
		_ = f.send(ctx, news{err: err})
	}
}

// follow lists and watches the kind until an error.
func (f *follower) follow(ctx context.Context) error {
	err := f.list(ctx)
	for err == nil {
		begin := time.Now()
		err = f.watch(ctx, false)
		if isExpired(err) {
			err = f.list(ctx)
		}
		if err == nil && time.Since(begin) < shortWatch {
			source.Sleep(ctx, shortWatch)
		}
	}
	return err
}

func (f *follower) send(ctx context.Context, n news) error {
	n.kind = f.kind
	select {
	case f.out <- n:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// list passes on all objects: by a watch that begins with them, after which it is watched
// until the watch ends, or by pages.
func (f *follower) list(ctx context.Context) error {
	err := f.watch(ctx, true)
	if isUnsupported(err) {
		return f.pages(ctx)
	}
	if isExpired(err) {
		return nil // of the watch after the list; the next watch reports it again
	}
	return err
}

// pages lists all objects in pages at one resource version.
func (f *follower) pages(ctx context.Context) error {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for begins := true; ; begins = false {
		var page struct {
			Metadata struct {
				ResourceVersion string `json:"resourceVersion"`
				Continue        string `json:"continue"`
			} `json:"metadata"`
			Items []jsontext.Value `json:"items"`
		}
		if err := f.page(ctx, query, &page); err != nil {
			if isExpired(err) && !begins {
				return f.pages(ctx) // the pages took too long
			}
			return err
		}
		n := news{begins: begins}
		for _, item := range page.Items {
			o, ok, err := f.kind.object(item, false)
			if err != nil {
				return err
			}
			if ok {
				n.objects = append(n.objects, o)
			}
		}
		version, err := parseVersion(page.Metadata.ResourceVersion)
		if err != nil {
			return err
		}
		f.at = version
		if n.ends = page.Metadata.Continue == ""; n.ends {
			n.version = version
		}
		if err := f.send(ctx, n); err != nil || n.ends {
			return err
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// open sends a request for the objects of the kind. While the server is busy, such as
// after a definition was created, the request is repeated.
func (f *follower) open(ctx context.Context, query url.Values) (io.ReadCloser, error) {
	if f.kind.selector != "" {
		query.Set("fieldSelector", f.kind.selector)
	}
	for {
		body, err := f.store.open(ctx, f.kind.path, query, plainJSON)
		if !hasCode(err, http.StatusTooManyRequests) {
			return body, err
		}
		if source.Sleep(ctx, busy/2+rand.N(busy/2)); ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (f *follower) page(ctx context.Context, query url.Values, page any) error {
	body, err := f.open(ctx, query)
	if err != nil {
		return err
	}
	defer body.Close()
	return json.UnmarshalRead(body, page, lenient)
}

// watch passes on what changes after f.at, or first all objects, until the watch ends.
// The error is nil if the server ended it in the normal way.
func (f *follower) watch(ctx context.Context, fromBeginning bool) error {
	query := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}, "timeoutSeconds": {strconv.Itoa(300 + rand.IntN(300))}}
	if fromBeginning {
		// Without a resource version, the list is as new as the etcd of the server.
		query.Set("sendInitialEvents", "true")
		query.Set("resourceVersionMatch", "NotOlderThan")
	} else {
		query.Set("resourceVersion", strconv.FormatUint(f.at, 10))
	}
	body, err := f.open(ctx, query)
	if err != nil {
		return err
	}
	defer body.Close()
	w := watching{follower: f, initial: fromBeginning}
	if fromBeginning {
		w.page.begins = true
	}
	decoder := jsontext.NewDecoder(body, lenient)
	for {
		value, err := decoder.ReadValue()
		switch {
		case err == nil:
			err = w.event(ctx, value)
		case ctx.Err() != nil:
			return ctx.Err()
		case w.initial:
			return fmt.Errorf("the list of %s ended: %w", f.kind.path, err)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// watching is the state of a watch.
type watching struct {
	*follower
	initial bool // the objects that exist are being sent
	page    news // of these objects
}

// event passes on an event of a watch. The value is valid until the next one is read.
func (w *watching) event(ctx context.Context, value jsontext.Value) error {
	var event struct {
		Type   string         `json:"type"`
		Object jsontext.Value `json:"object"`
	}
	if err := json.Unmarshal(value, &event, lenient); err != nil {
		return err
	}
	switch event.Type {
	case "ERROR":
		failure := &status{}
		if err := json.Unmarshal(event.Object, failure, lenient); err != nil {
			return err
		}
		return failure
	case "BOOKMARK":
		h, version, err := headOf(event.Object)
		if err != nil {
			return err
		}
		return w.bookmark(ctx, version, h.Metadata.Annotations.InitialEventsEnd == "true")
	case "ADDED", "MODIFIED", "DELETED":
	default:
		return nil // of a later version of Kubernetes
	}
	o, ok, err := w.kind.object(event.Object, event.Type == "DELETED")
	if err != nil || !ok {
		return err
	}
	if !w.initial {
		w.at = max(w.at, o.version)
		return w.send(ctx, news{objects: []object{o}, version: w.at})
	}
	// An object that is sent again is in a page of its own.
	if event.Type != "ADDED" && len(w.page.objects) > 0 {
		if err := w.flush(ctx); err != nil {
			return err
		}
	}
	w.page.objects = append(w.page.objects, o)
	if event.Type == "ADDED" && len(w.page.objects) < pageSize {
		return nil
	}
	return w.flush(ctx)
}

// flush passes on the page.
func (w *watching) flush(ctx context.Context) error {
	page := w.page
	w.page = news{}
	return w.send(ctx, page)
}

// bookmark passes on that the watch has reached a resource version, and that all objects
// were sent.
func (w *watching) bookmark(ctx context.Context, version uint64, end bool) error {
	w.at = max(w.at, version)
	if w.initial {
		w.at = version
	}
	if !w.initial || !end {
		return nil
	}
	w.initial = false
	w.page.ends, w.page.version = true, version
	return w.flush(ctx)
}

// isExpired reports whether a resource version is too old to continue from.
func isExpired(err error) bool { return hasCode(err, http.StatusGone) }

// isUnsupported reports whether a server does not support a watch that begins with all
// objects.
func isUnsupported(err error) bool {
	return hasCode(err, http.StatusUnprocessableEntity) || hasCode(err, http.StatusBadRequest)
}
