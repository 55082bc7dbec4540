package dump

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// MaxSize is the maximum size of a dump in bytes. An Envoy of 10,000 clusters prints 50 MiB.
const MaxSize = 256 << 20

// Errors about a dump.
var (
	// ErrTooLarge indicates that a dump is larger than MaxSize.
	ErrTooLarge = errors.New("the dump is larger than 256 MiB; ask for /config_dump without the parameter include_eds")
	// ErrNoDump indicates that a document is no dump of an Envoy.
	ErrNoDump = errors.New("no dump of an Envoy: no object has the list configs; give the answer of /config_dump as JSON")
	// ErrNoListener indicates that a proxy has no listener.
	ErrNoListener = errors.New("the dump has no active listener; ask for /config_dump without a resource or mask")
)

// Read reads a dump: a file, "-" for stdin, or the URL of an admin interface. A URL without a
// path means its path /config_dump.
func Read(ctx context.Context, name string, stdin io.Reader) ([]*Proxy, error) {
	data, err := bytesOf(ctx, name, stdin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	proxies, err := ParseProxies(data)
	for _, p := range proxies {
		p.Source = name
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return proxies, nil
}

func bytesOf(ctx context.Context, name string, stdin io.Reader) ([]byte, error) {
	switch {
	case name == "-":
		return limited(stdin)
	case strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://"):
		return get(ctx, name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return limited(f)
}

func limited(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err == nil && len(data) > MaxSize {
		return nil, ErrTooLarge
	}
	return data, err
}

func get(ctx context.Context, name string) ([]byte, error) {
	u, err := url.Parse(name)
	if err != nil {
		return nil, err
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path, u.RawQuery = "/config_dump", "include_eds"
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, errors.New("the answer is " + answer.Status)
	}
	return limited(answer.Body)
}

// ParseProxies returns the proxies of a dump, at least one. Each has a listener.
func ParseProxies(data []byte) ([]*Proxy, error) {
	var document any
	if err := json.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNoDump, err)
	}
	var out []*Proxy
	find(document, nil, func(path []string, o Object) { out = append(out, proxyOf(strings.Join(path, "/"), o)) })
	if len(out) == 0 {
		return nil, ErrNoDump
	}
	for _, p := range out {
		if len(p.Listeners) == 0 {
			return nil, ErrNoListener
		}
	}
	return out, nil
}

// find calls found for each object with a list of configs, in the order of the names on its path.
func find(v any, path []string, found func([]string, Object)) {
	o := objectOf(v)
	switch {
	case len(path) > 6: // deeper than any tool prints
	case len(o.List("configs")) > 0:
		found(path, o)
	default:
		for _, name := range o.Names() {
			find(o[name], append(path[:len(path):len(path)], name), found)
		}
		list, _ := v.([]any)
		for _, item := range list {
			find(item, append(path[:len(path):len(path)], "-"), found)
		}
	}
}
