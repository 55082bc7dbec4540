package translators

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	metadatav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/retry/host/omit_host_metadata/v3"
	prioritiesv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/retry/priority/previous_priorities/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// hostsWithTags rejects hosts with all of the tags, which the endpoints show
// (retryTags).
func hostsWithTags(tags map[string]string) *routev3.RetryPolicy_RetryHostPredicate {
	fields := map[string]*structpb.Value{}
	for key, value := range tags {
		fields[key] = structpb.NewStringValue(value)
	}
	return hostPredicate("envoy.retry_host_predicates.omit_host_metadata", &metadatav3.OmitHostMetadataConfig{
		MetadataMatch: &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{"envoy.lb": {Fields: fields}}},
	})
}

func hostPredicate(name string, config proto.Message) *routev3.RetryPolicy_RetryHostPredicate {
	return &routev3.RetryPolicy_RetryHostPredicate{
		Name: name, ConfigType: &routev3.RetryPolicy_RetryHostPredicate_TypedConfig{TypedConfig: message.Any(config)},
	}
}

// previousPriorities rejects the priorities of earlier attempts. They are computed again after
// each frequency attempts.
func previousPriorities(frequency *int32) *routev3.RetryPolicy_RetryPriority {
	config := &prioritiesv3.PreviousPrioritiesConfig{UpdateFrequency: valueOr(frequency, 2)}
	return &routev3.RetryPolicy_RetryPriority{
		Name:       "envoy.retry_priorities.previous_priorities",
		ConfigType: &routev3.RetryPolicy_RetryPriority_TypedConfig{TypedConfig: message.Any(config)},
	}
}
