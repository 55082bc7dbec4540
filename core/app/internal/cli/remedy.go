package cli

import (
	"errors"
	"fmt"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/app/internal/webhook"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
)

// remedies are the flags to give when a package reports that an option is missing.
var remedies = []struct {
	err   error
	flags string
}{
	{ca.ErrNotKept, "give a directory with --state"},
	{serve.ErrNotLoopback, "give --tls-cert, --tls-key and --client-ca, or --insecure"},
	{serve.ErrKeysNotServed, "give --tls-cert, --tls-key and --client-ca"},
	{webhook.ErrSeveralZones, "give one of them with --zone"},
	{bootstrap.ErrGRPCFiles, "give --xds-ca, --xds-cert and --xds-key"},
}

// remedy returns what to do about an error, or "".
func remedy(err error) string {
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			return r.flags
		}
	}
	return ""
}

// withFlags returns an error with flags instead of the fields of a question, and with
// its remedy.
func withFlags(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return errors.Join(lists.Map(joined.Unwrap(), withFlags)...)
	}
	var query *find.Error
	if errors.As(err, &query) {
		return query.Spelled(func(field find.Field) string { return "--" + string(field) })
	}
	if flags := remedy(err); flags != "" {
		return fmt.Errorf("%w; %s", err, flags)
	}
	return err
}
