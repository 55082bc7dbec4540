package inspectapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// Answers returns a function that answers questions about a view with the JSON of the API. A question is
// a path with its parameters. The error is the detail of the problem, or the cause of the context.
// The function may be called concurrently. What answers share is made once, here.
func Answers(view *core.View, translators []xds.Translator) func(ctx context.Context, query string) ([]byte, error) {
	state := &proxied.State{View: view, Snapshots: snapshot.NewBuilder(translators, snapshot.Options{}).At(view)}
	handler := New(func() *proxied.State { return state }, translators)
	return func(ctx context.Context, query string) ([]byte, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, query, nil)
		if err != nil {
			return nil, err
		}
		var response recorded
		handler.ServeHTTP(&response, request)
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if response.status == http.StatusOK {
			return response.body.Bytes(), nil
		}
		var problem Problem
		if err := json.Unmarshal(response.body.Bytes(), &problem); err != nil { // ServeMux redirects to a clean path
			return nil, fmt.Errorf("the path must be %s", response.header.Get("Location"))
		}
		return nil, errors.New(problem.Detail)
	}
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
