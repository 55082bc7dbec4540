package xds

import (
	"fmt"
	"sync"

	xdscore "github.com/cncf/xds/go/xds/core/v3"
	rbacconfig "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	networkinputs "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	sslinputs "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	envoymatcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
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

// rbacAction is the end of a matcher: to deny or to allow in a policy's name.
func rbacAction(name string, deny bool) *xdscore.TypedExtensionConfig {
	action := rbacconfig.RBAC_ALLOW
	if deny {
		action = rbacconfig.RBAC_DENY
	}
	return extension("envoy.filters.rbac.action", &rbacconfig.Action{Name: name, Action: action})
}

func extension(name string, config proto.Message) *xdscore.TypedExtensionConfig {
	out := &anypb.Any{}
	if err := anypb.MarshalFrom(out, config, proto.MarshalOptions{Deterministic: true}); err != nil {
		panic(fmt.Sprintf("xds: %s: %v", name, err)) // only of text that is no UTF-8, which decoding refuses
	}
	return &xdscore.TypedExtensionConfig{Name: name, TypedConfig: out}
}
