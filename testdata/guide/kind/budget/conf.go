package budget

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

//go:generate go tool confgen

// Conf is the budget of the requests to a service.
//
//confgen:conf schema
type Conf struct {
	Requests *uint32        `json:"requests,omitzero"`
	Per      *conf.Duration `json:"per,omitzero"`
	Retries  *Retries       `json:"retries,omitzero"`
}

// Retries is the part of the budget that retries may take.
type Retries struct {
	//confgen:openapi {"maximum": 100}
	Percent *uint32 `json:"percent,omitzero"`
	// Methods are those that may be retried; a later list replaces the whole list.
	Methods []string `json:"methods,omitzero"`
}

// Validate checks a value that is read from a file or made in Go. Its errors have
// the position and the path of the field.
func (r *Retries) Validate(at *diag.At) {
	if r.Percent != nil && *r.Percent > 100 {
		at.Field("percent").Errorf(diag.OutOfRange, "a percentage is at most 100", "bad percentage %d", *r.Percent)
	}
}
