package cli

import (
	"github.com/spf13/pflag"

	"github.com/meshmatch/meshmatch/core/inspect"
)

// registerRequest adds the flags that describe a request.
func registerRequest(flags *pflag.FlagSet, q *inspect.RequestQuery) {
	flags.StringVar(&q.SpiffeID, "spiffe-id", "", "the SPIFFE `ID` of the client's certificate")
	flags.StringVar(&q.SNI, "sni", "", "the server `NAME` (SNI) that the client sends")
	flags.StringVar(&q.Method, "method", "", "the HTTP `METHOD`")
	flags.StringVar(&q.Path, "path", "", "the `PATH`, with or without a query")
	flags.StringArrayVar(&q.Headers, "header", nil, "a header, as `NAME=VALUE`; may be repeated")
	flags.StringArrayVar(&q.Tags, "tag", nil, "a tag of the client, as `KEY=VALUE`, for from policies; may be repeated")
}
