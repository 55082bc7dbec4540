package xds

import (
	"strconv"
	"strings"
	"sync"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
)

const (
	managerFilter = "envoy.filters.network.http_connection_manager"
	tcpFilter     = "envoy.filters.network.tcp_proxy"
	routerFilter  = "envoy.filters.http.router"
)

// Filters is the draft of the filters of one filter chain. Translators add filters; then
// [Filters.List] is called once. Exactly one of Manager and TCP is set.
type Filters struct {
	// Manager is the HTTP connection manager. Its HTTP filters are in the field http
	// until the draft is finished.
	Manager *hcmv3.HttpConnectionManager
	TCP     *tcpv3.TcpProxy

	http    []*hcmv3.HttpFilter
	network []*listenerv3.Filter
	decide  seal.Chain
}

// Decide marks all filters added so far as filters that decide whether a client is
// served. A patch of the finished resources must not remove or bypass them (SPEC 11.5).
func (f *Filters) Decide() { f.decide = seal.Chain{Network: len(f.network), HTTP: len(f.http)} }

// Decided returns the number of filters that Decide marked.
func (f *Filters) Decided() seal.Chain { return f.decide }

// AddHTTPFilter adds a filter after those added earlier. The router is always the last
// one. Name is Envoy's canonical name of the filter; a second filter of that name is
// named NAME.1 (SPEC 11.4). It must only be called if Manager is set.
func (f *Filters) AddHTTPFilter(name string, config *anypb.Any) {
	f.addHTTP(&hcmv3.HttpFilter{
		Name: numbered(name, f.http), ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: config},
	})
}

// addHTTP adds a filter to a list with room for the filters of most inbounds and the router.
func (f *Filters) addHTTP(filter *hcmv3.HttpFilter) {
	if f.http == nil {
		f.http = make([]*hcmv3.HttpFilter, 0, 8)
	}
	f.http = append(f.http, filter)
}

// AddDisabled adds a filter that does nothing unless routes enable it, see
// [Inbound.Enable], so that what it does changes no listener (SPEC 11.8). It returns the
// filter's name, which is made as by AddHTTPFilter.
func (f *Filters) AddDisabled(name string) string {
	name = numbered(name, f.http)
	filter := newHTTPFilter(name, disabledConfig())
	filter.Disabled = true
	f.addHTTP(filter)
	return name
}

// newHTTPFilter returns a filter whose config shares its bytes with another one. A translator
// may replace the bytes.
func newHTTPFilter(name string, config *anypb.Any) *hcmv3.HttpFilter {
	var m struct {
		filter hcmv3.HttpFilter
		kind   hcmv3.HttpFilter_TypedConfig
		config anypb.Any
	}
	m.config.TypeUrl, m.config.Value = config.TypeUrl, config.Value
	m.kind.TypedConfig = &m.config
	m.filter.Name, m.filter.ConfigType = name, &m.kind
	return &m.filter
}

// disabledConfig is the config of all filters of AddDisabled.
var disabledConfig = sync.OnceValue(func() *anypb.Any { return message.Any(message.Composite(nil)) })

// routerConfig is the config of all filters that send requests to clusters.
var routerConfig = sync.OnceValue(func() *anypb.Any { return message.Any(&routerv3.Router{}) })

// sharing returns a message that shares its bytes with another one. A translator may replace
// the bytes.
func sharing(m *anypb.Any) *anypb.Any { return &anypb.Any{TypeUrl: m.TypeUrl, Value: m.Value} }

// AddNetworkFilter adds a filter before the HTTP connection manager or the TCP proxy. It
// is named as by AddHTTPFilter.
func (f *Filters) AddNetworkFilter(name string, config *anypb.Any) {
	f.network = append(f.network, &listenerv3.Filter{
		Name: numbered(name, f.network), ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: config},
	})
}

// AddAccessLog adds an access log to the connection manager or the TCP proxy.
func (f *Filters) AddAccessLog(log *accesslogv3.AccessLog) {
	if f.Manager != nil {
		f.Manager.AccessLog = append(f.Manager.AccessLog, log)
	} else {
		f.TCP.AccessLog = append(f.TCP.AccessLog, log)
	}
}

// List finishes the draft and returns its network filters. The last one is the HTTP
// connection manager or the TCP proxy. Package snapshot calls it once for each draft.
func (f *Filters) List() []*listenerv3.Filter {
	name, config := tcpFilter, proto.Message(f.TCP)
	if f.Manager != nil {
		f.Manager.HttpFilters = append(f.http, newHTTPFilter(routerFilter, routerConfig()))
		name, config = managerFilter, f.Manager
	}
	return append(f.network, &listenerv3.Filter{
		Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: message.Any(config)},
	})
}

// numbered returns the name of a filter added after others: its canonical name, and, if
// others have that name already, their number.
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

// isNumbered reports whether numbered made a name from the canonical name.
func isNumbered(name, canonical string) bool {
	rest, found := strings.CutPrefix(name, canonical)
	number, dotted := strings.CutPrefix(rest, ".")
	if !found || !dotted {
		return name == canonical
	}
	_, err := strconv.Atoi(number)
	return err == nil
}
