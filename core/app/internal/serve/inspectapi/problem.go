package inspectapi

import (
	"errors"
	"net/http"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Problem is the body of an answer with an error status (RFC 9457).
type Problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"` // of the status
	Detail string `json:"detail"`
}

// WriteProblem answers a request with a problem.
func WriteProblem(w http.ResponseWriter, status int, detail string) {
	write(w, status, "application/problem+json", Problem{status, http.StatusText(status), diag.OneLine(detail)})
}

// WriteJSON answers a request with status 200 and a body.
func WriteJSON(w http.ResponseWriter, answer any) {
	write(w, http.StatusOK, "application/json", answer)
}

func write(w http.ResponseWriter, status int, contentType string, body any) {
	data, err := inspect.JSON(body)
	if err != nil {
		http.Error(w, "the answer cannot be encoded", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(data) // fails if the client has gone
}

// statusOf returns the status of an error of package inspect.
func statusOf(err error) int {
	if errors.Is(err, find.ErrNotFound) {
		return http.StatusNotFound
	}
	return http.StatusBadRequest
}
