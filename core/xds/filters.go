package xds

import (
	"strconv"
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/seal"
)

const (
	managerFilter = "envoy.filters.network.http_connection_manager"
	tcpFilter     = "envoy.filters.network.tcp_proxy"
	routerFilter  = "envoy.filters.http.router"
)

// Filters is the draft of the filters of one filter chain. Exactly one of Manager
// and TCP is set.
type Filters struct {
	// Manager is the HTTP connection manager. Its HTTP filters and its access logs
	// are in the fields below until the draft is finished.
	Manager *hcmv3.HttpConnectionManager
	TCP     *tcpv3.TcpProxy

	http    []*hcmv3.HttpFilter
	network []*listenerv3.Filter
	decide  seal.Chain
}

// Decide marks the filters that were added so far as those that decide whether a client
// is served: a change of the finished resources must not take them away or go around
// them (SPEC 11.5).
func (f *Filters) Decide() { f.decide = seal.Chain{Network: len(f.network), HTTP: len(f.http)} }

// Decided returns the number of the filters that decide.
func (f *Filters) Decided() seal.Chain { return f.decide }

// AddHTTPFilter adds a filter after those that were added before. The router is
// always the last one. Name is Envoy's canonical name of the filter; a second filter
// of that name is called NAME.1 (SPEC 11.4). It must only be called if Manager is
// set.
func (f *Filters) AddHTTPFilter(name string, config *anypb.Any) {
	f.http = append(f.http, &hcmv3.HttpFilter{
		Name: numbered(name, f.http), ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: config},
	})
}

// addDiscovered adds an HTTP filter whose config is an extension (SPEC 11.8).
func (f *Filters) addDiscovered(name, typeURL string) {
	f.http = append(f.http, message.Discovered(name, typeURL))
}

// AddNetworkFilter adds a filter before the HTTP connection manager or the TCP
// proxy, named as by AddHTTPFilter.
func (f *Filters) AddNetworkFilter(name string, config *anypb.Any) {
	f.network = append(f.network, &listenerv3.Filter{
		Name: numbered(name, f.network), ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: config},
	})
}

// AddAccessLog adds an access log.
func (f *Filters) AddAccessLog(log *accesslogv3.AccessLog) {
	if f.Manager != nil {
		f.Manager.AccessLog = append(f.Manager.AccessLog, log)
	} else {
		f.TCP.AccessLog = append(f.TCP.AccessLog, log)
	}
}

// List returns the network filters of the finished draft, the HTTP connection manager
// or the TCP proxy as the last one. It is called once, by the package, for the drafts
// that it makes.
func (f *Filters) List() []*listenerv3.Filter {
	name, config := tcpFilter, proto.Message(f.TCP)
	if f.Manager != nil {
		f.Manager.HttpFilters = append(f.http, &hcmv3.HttpFilter{
			Name: routerFilter, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: message.Any(&routerv3.Router{})},
		})
		name, config = managerFilter, f.Manager
	}
	return append(f.network, &listenerv3.Filter{
		Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: message.Any(config)},
	})
}

// numbered returns the name of a filter after others: its canonical name, with the number
// of those that have the name before it.
func numbered[F interface{ GetName() string }](canonical string, others []F) string {
	n := 0
	for _, other := range others {
		if isNumbered(other.GetName(), canonical) {
			n++
		}
	}
	if n == 0 {
		return canonical
	}
	return canonical + "." + strconv.Itoa(n)
}

// isNumbered reports whether a name was made by numbered from the canonical name.
func isNumbered(name, canonical string) bool {
	number, found := strings.CutPrefix(name, canonical+".")
	_, err := strconv.Atoi(number)
	return name == canonical || found && err == nil
}
