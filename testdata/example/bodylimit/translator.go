package bodylimit

import (
	bufferv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/buffer/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// Translator applies BodyLimit to inbounds of HTTP.
func Translator() xds.Translator {
	return xds.Translator{
		Kind: "BodyLimit",
		Chain: func(c *xds.Chain, in xds.InboundConf) {
			translators.AddHTTPFilter(c, "envoy.filters.http.buffer", in, filter)
		},
	}
}

// filter returns the filter of a conf; nil if there is no limit.
func filter(e *results.Effective) proto.Message {
	limit := results.MustConfOf[Conf](e)
	if limit == nil || limit.MaxBytes == nil || *limit.MaxBytes == 0 {
		return nil
	}
	return &bufferv3.Buffer{MaxRequestBytes: wrapperspb.UInt32(*limit.MaxBytes)}
}
