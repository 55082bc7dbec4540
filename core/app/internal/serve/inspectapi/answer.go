package inspectapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// Answer returns the JSON that the API gives to a GET request for a path with parameters. The error
// is the detail of the problem, or the cause of the context.
func Answer(ctx context.Context, view *core.View, query string, translators []xds.Translator) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, query, nil)
	if err != nil {
		return nil, err
	}
	state := &proxied.State{View: view, Snapshots: snapshot.NewBuilder(translators, snapshot.Options{}).At(view)}
	var response recorded
	New(func() *proxied.State { return state }, translators).ServeHTTP(&response, request)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if response.status != http.StatusOK {
		var problem Problem
		if err := json.Unmarshal(response.body.Bytes(), &problem); err != nil {
			return nil, errors.New(response.body.String())
		}
		return nil, errors.New(problem.Detail)
	}
	return response.body.Bytes(), nil
}

// recorded is a response that is kept. The zero value is ready.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorded) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

func (r *recorded) WriteHeader(status int) { r.status = status }

func (r *recorded) Write(data []byte) (int, error) { return r.body.Write(data) }
