package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// timeout is the limit of a request with a short answer.
const timeout = 3 * time.Second

// lenient reads JSON that an API server wrote, which is checked again when it is decoded
// as a resource.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// status is an error of the API server.
type status struct {
	Code    int    `json:"code"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Error returns the message, and what to do.
func (s *status) Error() string {
	text := s.Message
	if text == "" {
		text = fmt.Sprintf("the API server answered %d %s", s.Code, http.StatusText(s.Code))
	}
	switch s.Code {
	case http.StatusForbidden:
		text += "; the roles of the Helm chart permit all that is read: give them to this user"
	case http.StatusUnauthorized:
		text += "; check the user and the token or certificate of the kubeconfig"
	}
	return text
}

// hasCode reports whether an error is a status with that code.
func hasCode(err error, code int) bool {
	var s *status
	return errors.As(err, &s) && s.Code == code
}

// plainJSON is the form of answers, unless another one is asked for.
const plainJSON = "application/json"

// open sends a GET request for a form of the answer, and returns the body of a good one.
func (s *Store) open(ctx context.Context, path string, query url.Values, accept string) (io.ReadCloser, error) {
	target := *s.base
	target.Path = strings.TrimSuffix(target.Path, "/") + path
	target.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	response, err := s.client.Do(request)
	if err != nil {
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err // without the address and the query
		}
		return nil, err
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	failure := &status{}
	const limit = 64 << 10
	if text, err := io.ReadAll(io.LimitReader(response.Body, limit)); err == nil {
		_ = json.Unmarshal(text, failure, lenient) // without a message, the code is enough
	}
	failure.Code = response.StatusCode
	return nil, failure
}

// get sends a request with a short answer, and decodes it unless answer is nil.
func (s *Store) get(ctx context.Context, path string, answer any) error {
	return s.read(ctx, timeout, "not answered for", path, nil, plainJSON, answer)
}

// read sends a request whose answer has a time limit, and decodes the answer unless it is nil. Late
// is what the API server has not done within the limit.
func (s *Store) read(ctx context.Context, limit time.Duration, late, path string, query url.Values, accept string, answer any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the API server has %s %v", late, limit))
	defer cancel()
	body, err := s.open(ctx, path, query, accept)
	if err == nil {
		defer body.Close()
		if answer == nil {
			_, err = io.Copy(io.Discard, body)
		} else {
			err = json.UnmarshalRead(body, answer, lenient)
		}
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
