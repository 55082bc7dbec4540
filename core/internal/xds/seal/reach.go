package seal

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	aggregatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
)

// Reach is what a resource refers to. Each list is sorted and has no duplicates.
type Reach struct {
	// Texts are all texts of the resource, except its name. They include the names of
	// clusters and routes.
	Texts []string
	// Addresses are the addresses that a cluster connects to, as host:port.
	Addresses []string
	// Unknown are the reasons why the resource may reach more than it names.
	Unknown []string
	// Certificates are how a cluster shows who the proxy is.
	Certificates []string
	// Sends are what a cluster sends by itself: health checks, in which a patch may write any request.
	Sends []string
	// Listening are the ports at which a listener accepts connections.
	Listening []uint32
}

// Find returns what a listener, a route configuration or a cluster refers to.
func Find(m proto.Message) *Reach {
	r := &Reach{}
	listener, _ := m.(*listenerv3.Listener)
	own := addresses(listener)
	for _, a := range own {
		r.Listening = append(r.Listening, a.GetPortValue())
	}
	top := m.ProtoReflect()
	for m := range envoyapi.Messages(m) {
		r.Unknown = append(r.Unknown, unknownOf(m)...)
		if a := socketAddress(m); a != nil && !slices.Contains(own, a) {
			r.Addresses = append(r.Addresses, hostPort(a))
		}
		if address := checkedPort(m); address != "" {
			r.Addresses = append(r.Addresses, address)
		}
		if sends(m) {
			r.Sends = append(r.Sends, "its health checks send requests to the workload, which no permission decides")
		}
		if presentsCertificate(m) {
			r.Certificates = append(r.Certificates, "it presents a certificate of the proxy, so its clients would be decided as the proxy")
		}
		if envoyapi.IsAny(m) {
			continue
		}
		m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
			if m != top || field.Name() != "name" { // its own name is not a reference
				eachText(field, value, func(text string) { r.Texts = append(r.Texts, text) })
			}
			return true
		})
	}
	if cluster, ok := m.(*clusterv3.Cluster); ok {
		r.Unknown = append(r.Unknown, unknownEndpoints(cluster)...)
	}
	for _, list := range []*[]string{&r.Texts, &r.Addresses, &r.Unknown, &r.Certificates, &r.Sends} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r
}

// FindEndpoints returns what a cluster with endpoints of its own resource refers to.
func FindEndpoints(m *endpointv3.ClusterLoadAssignment) *Reach {
	r := &Reach{}
	for _, locality := range m.Endpoints {
		for _, e := range locality.LbEndpoints {
			r.Addresses = append(r.Addresses, hostPort(e.GetEndpoint().GetAddress().GetSocketAddress()))
		}
	}
	slices.Sort(r.Addresses)
	r.Addresses = slices.Compact(r.Addresses)
	return r
}

// socketAddress returns a message as the address of a socket, nil if it is none. In a message
// whose Go type is not linked, it is of another Go type.
func socketAddress(m protoreflect.Message) *corev3.SocketAddress {
	if a, ok := m.Interface().(*corev3.SocketAddress); ok {
		return a
	}
	if m.Descriptor().FullName() != (*corev3.SocketAddress)(nil).ProtoReflect().Descriptor().FullName() {
		return nil
	}
	a := &corev3.SocketAddress{}
	if data, err := proto.Marshal(m.Interface()); err == nil {
		_ = proto.Unmarshal(data, a) // what cannot be read is an address that is not known
	}
	return a
}

// addresses returns the addresses of sockets at which a listener accepts connections.
func addresses(l *listenerv3.Listener) (list []*corev3.SocketAddress) {
	all := []*corev3.Address{l.GetAddress()}
	for _, more := range l.GetAdditionalAddresses() {
		all = append(all, more.GetAddress())
	}
	for _, a := range all {
		if socket := a.GetSocketAddress(); socket != nil {
			list = append(list, socket)
		}
	}
	return list
}

// checkedPort returns the address at which an endpoint is checked, if it has a port for that.
func checkedPort(m protoreflect.Message) string {
	e, ok := m.Interface().(*endpointv3.Endpoint)
	if !ok || e.GetHealthCheckConfig().GetPortValue() == 0 {
		return ""
	}
	host := cmp.Or(e.GetHealthCheckConfig().GetAddress().GetSocketAddress().GetAddress(), e.GetAddress().GetSocketAddress().GetAddress())
	return net.JoinHostPort(host, strconv.FormatUint(uint64(e.GetHealthCheckConfig().GetPortValue()), 10))
}

// sends reports whether a message is a health check that does more than to connect.
func sends(m protoreflect.Message) bool {
	check, ok := m.Interface().(*corev3.HealthCheck)
	if !ok {
		return false
	}
	tcp := check.GetTcpHealthCheck()
	return tcp == nil || tcp.Send != nil
}

// hostPort returns an address as host:port. A port with a name is one that a resolver
// chooses.
func hostPort(a *corev3.SocketAddress) string {
	port := strconv.FormatUint(uint64(a.GetPortValue()), 10)
	if name := a.GetNamedPort(); name != "" {
		port = name
	}
	return net.JoinHostPort(a.GetAddress(), port)
}

// Without returns the references that are not in other.
func (r *Reach) Without(other *Reach) *Reach {
	return r.with(other, false)
}

// Within returns the references that are in other too.
func (r *Reach) Within(other *Reach) *Reach { return r.with(other, true) }

func (r *Reach) with(other *Reach, present bool) *Reach {
	keep := func(list, other []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(text string) bool {
			_, found := slices.BinarySearch(other, text)
			return found != present
		})
	}
	return &Reach{
		keep(r.Texts, other.Texts), keep(r.Addresses, other.Addresses), keep(r.Unknown, other.Unknown),
		keep(r.Certificates, other.Certificates), keep(r.Sends, other.Sends), r.Listening,
	}
}

// Empty reports whether it refers to nothing.
func (r *Reach) Empty() bool {
	return len(r.Texts)+len(r.Addresses)+len(r.Unknown)+len(r.Certificates)+len(r.Sends) == 0
}

// eachText calls visit with the texts of a field. Those of a map include its keys.
func eachText(field protoreflect.FieldDescriptor, value protoreflect.Value, visit func(string)) {
	text := func(kind protoreflect.Kind, value protoreflect.Value) {
		switch kind {
		case protoreflect.StringKind:
			visit(value.String())
		case protoreflect.BytesKind:
			visit(string(value.Bytes()))
		}
	}
	switch {
	case field.IsMap():
		value.Map().Range(func(key protoreflect.MapKey, entry protoreflect.Value) bool {
			text(field.MapKey().Kind(), key.Value())
			text(field.MapValue().Kind(), entry)
			return true
		})
	case field.IsList():
		for i := range value.List().Len() {
			text(field.Kind(), value.List().Get(i))
		}
	default:
		text(field.Kind(), value)
	}
}

// programs are parts of type names. Such a type runs a program, or its content is read
// by a type that is not linked.
var programs = []string{".lua.", ".wasm.", ".golang.", ".dynamic_modules.", "TypedStruct"}

// unknownOf returns the reasons why a message may reach more than it names.
func unknownOf(m protoreflect.Message) (reasons []string) {
	if reason := chosenByRequest(m); reason != "" {
		reasons = append(reasons, reason)
	}
	name := string(m.Descriptor().FullName())
	if envoyapi.IsAny(m) {
		if name = m.Get(m.Descriptor().Fields().ByName("type_url")).String(); name == "" {
			return reasons
		}
		if envoyapi.Unpack(m) == nil {
			reasons = append(reasons, "it has the unknown type "+name)
		}
		for _, program := range programs {
			if strings.Contains(name, program) {
				reasons = append(reasons, "it runs a program ("+name+"), which may choose a cluster")
			}
		}
		return reasons
	}
	if strings.HasSuffix(name, ".SniCluster") {
		reasons = append(reasons, "the client's server name chooses the cluster")
	}
	switch name {
	case "envoy.extensions.filters.network.http_connection_manager.v3.ScopedRds", "envoy.config.route.v3.Vhds":
		reasons = append(reasons, "its routes are in other resources")
	}
	return append(reasons, otherSources(m)...)
}

// otherSources returns the parts of a message that come from another server or from a file,
// except secrets.
func otherSources(m protoreflect.Message) (reasons []string) {
	if m.Descriptor().FullName() == "envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig" {
		return nil
	}
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Message() == nil || field.IsMap() || field.Message().FullName() != "envoy.config.core.v3.ConfigSource" {
			return true
		}
		reason := "a part of it (" + string(field.Name()) + ") does not come from the proxy's xDS server"
		if field.IsList() || !value.Message().Has(field.Message().Fields().ByName("ads")) {
			reasons = append(reasons, reason)
		}
		return true
	})
	return reasons
}

// certificateFields are the fields of a context of TLS that have the certificate which is shown.
var certificateFields = []protoreflect.Name{
	"tls_certificates", "tls_certificate_sds_secret_configs", "tls_certificate_provider_instance", "custom_tls_certificate_selector",
	"tls_certificate_certificate_provider", "tls_certificate_certificate_provider_instance",
}

// presentsCertificate reports whether a message is a context of TLS with a certificate.
func presentsCertificate(m protoreflect.Message) bool {
	return m.Descriptor().FullName() == "envoy.extensions.transport_sockets.tls.v3.CommonTlsContext" &&
		slices.ContainsFunc(certificateFields, func(name protoreflect.Name) bool {
			field := m.Descriptor().Fields().ByName(name)
			return field != nil && m.Has(field)
		})
}

// chosenByRequest returns why a message lets a request, or the answer to one, choose where it
// goes, or "" if it does not.
func chosenByRequest(m protoreflect.Message) string {
	if field := m.Descriptor().Fields().ByName("enable_redirection"); field != nil && m.Has(field) {
		return "an answer chooses the next address (enable_redirection)"
	}
	for _, name := range []protoreflect.Name{"cluster_header", "cluster_specifier_plugin", "inline_cluster_specifier_plugin"} {
		if field := m.Descriptor().Fields().ByName(name); field != nil && m.Has(field) {
			return "a request chooses the cluster (" + string(name) + ")"
		}
	}
	const key = "envoy.tcp_proxy.cluster"
	if field := m.Descriptor().Fields().ByName("object_key"); field != nil && field.Kind() == protoreflect.StringKind && m.Get(field).String() == key {
		return "a connection chooses the cluster (" + key + ")"
	}
	return ""
}

// unknownEndpoints returns the reasons why the endpoints of a cluster are unknown.
func unknownEndpoints(c *clusterv3.Cluster) []string {
	// Envoy finds a type of clusters by the type of its config, and by its name only without one.
	if custom := c.GetClusterType(); custom != nil && !custom.GetTypedConfig().MessageIs(&aggregatev3.ClusterConfig{}) {
		return []string{"its endpoints are chosen by " + custom.Name}
	}
	if c.GetClusterType() == nil && c.GetType() == clusterv3.Cluster_ORIGINAL_DST {
		return []string{"it connects to an address that the client chooses (ORIGINAL_DST)"}
	}
	return nil
}
