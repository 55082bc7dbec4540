package xds

import (
	"fmt"
	"sync"

	xdscore "github.com/cncf/xds/go/xds/core/v3"
	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkinputs "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	sslinputs "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// The inputs that every matcher of a SPIFFE ID or an SNI has, made once.
var (
	clientURIInput = sync.OnceValue(func() *xdscore.TypedExtensionConfig {
		return extension("envoy.matching.inputs.uri_san", &sslinputs.UriSanInput{})
	})
	serverNameInput = sync.OnceValue(func() *xdscore.TypedExtensionConfig {
		return extension("envoy.matching.inputs.server_name", &networkinputs.ServerNameInput{})
	})
)

func headerInput(name string) *xdscore.TypedExtensionConfig {
	return extension("envoy.matching.inputs.request_headers", &envoymatcher.HttpRequestHeaderMatchInput{HeaderName: name})
}

// action is the end of a matcher with everything that it consists of, in one
// allocation: policies by the thousand have one each.
type action struct {
	onMatch xdsmatcher.Matcher_OnMatch
	kind    xdsmatcher.Matcher_OnMatch_Action
	config  xdscore.TypedExtensionConfig
	any     anypb.Any
}

// onMatch returns the action to deny or to allow in a policy's name.
func onMatch(name string, deny bool) *xdsmatcher.Matcher_OnMatch {
	const nameField, actionField = 1, 2 // of envoy.config.rbac.v3.Action
	value := make([]byte, 0, fieldSize(len(name))+2)
	value = append(appendHead(value, nameField, len(name)), name...)
	if deny {
		value = protowire.AppendTag(value, actionField, protowire.VarintType)
		value = protowire.AppendVarint(value, uint64(rbacconfig.RBAC_DENY))
	}
	a := &action{}
	a.any.TypeUrl, a.any.Value = actionURL, value
	a.config.Name, a.config.TypedConfig = "envoy.filters.rbac.action", &a.any
	a.kind.Action = &a.config
	a.onMatch.OnMatch = &a.kind
	return &a.onMatch
}

const actionURL = "type.googleapis.com/envoy.config.rbac.v3.Action"

func extension(name string, config proto.Message) *xdscore.TypedExtensionConfig {
	out := &anypb.Any{}
	if err := anypb.MarshalFrom(out, config, proto.MarshalOptions{Deterministic: true}); err != nil {
		panic(fmt.Sprintf("xds: %s: %v", name, err)) // a message of ours with a header's name
	}
	return &xdscore.TypedExtensionConfig{Name: name, TypedConfig: out}
}
