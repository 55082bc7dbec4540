package xdstest

import (
	"context"
	"fmt"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// open opens a stream of a protocol, for large messages.
func open(ctx context.Context, conn grpc.ClientConnInterface, stateOfTheWorld bool) (stream, error) {
	service := discoveryv3.NewAggregatedDiscoveryServiceClient(conn)
	large := []grpc.CallOption{grpc.MaxCallRecvMsgSize(32 << 20), grpc.MaxCallSendMsgSize(32 << 20)}
	if stateOfTheWorld {
		s, err := service.StreamAggregatedResources(ctx, large...)
		return stateStream{s}, err
	}
	s, err := service.DeltaAggregatedResources(ctx, large...)
	return deltaStream{s}, err
}

// deltaStream speaks the delta protocol.
type deltaStream struct {
	discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
}

func (s deltaStream) request(c *Client, t wire.Type, r change) error {
	m := &discoveryv3.DeltaDiscoveryRequest{
		TypeUrl: t.URL(), ResourceNamesSubscribe: r.subscribe, ResourceNamesUnsubscribe: r.unsubscribe,
		ResourceLocatorsSubscribe: locators(r.subscribeLocators), ResourceLocatorsUnsubscribe: locators(r.unsubscribeLocators),
		ResponseNonce: r.ack, ErrorDetail: detail(r.nack),
	}
	if !c.sentAny {
		m.Node, c.sentAny = c.options.Node, true
	}
	if h := c.types[t]; h.resumed {
		m.InitialResourceVersions = map[string]string{}
		for name, resource := range h.named {
			m.InitialResourceVersions[name] = resource.Version
		}
		for _, resource := range h.located {
			m.InitialResourceVersions[resource.Name] = resource.Version
		}
	}
	c.remember(m)
	return s.Send(m)
}

func (s deltaStream) nonce() (string, error) {
	m, err := s.Recv()
	return m.GetNonce(), err
}

func (s deltaStream) receive() (Response, string, error) {
	m, err := s.Recv()
	if err != nil {
		return Response{}, "", err
	}
	r, err := newResponse(m, m.GetResources(), wrapped)
	if err != nil {
		return Response{}, "", err
	}
	r.Removed = m.GetRemovedResources()
	r.RemovedVariants, err = each(r.Type, m.GetRemovedResourceNames(), removed)
	return r, "", err
}

// stateStream speaks the state of the world protocol.
type stateStream struct {
	discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient
}

func (s stateStream) request(c *Client, t wire.Type, r change) error {
	h := c.types[t]
	m := &discoveryv3.DiscoveryRequest{
		TypeUrl: t.URL(), VersionInfo: h.version, ResponseNonce: h.nonce, ErrorDetail: detail(r.nack),
	}
	if !c.sentAny {
		m.Node, c.sentAny = c.options.Node, true
	}
	for name := range h.names {
		m.ResourceNames = append(m.ResourceNames, name)
	}
	for _, l := range h.locators {
		m.ResourceLocators = append(m.ResourceLocators, l.proto())
	}
	h.explicit = h.wildcard && (h.explicit || len(m.ResourceNames)+len(m.ResourceLocators) > 0)
	if h.explicit {
		m.ResourceNames = append(m.ResourceNames, "*")
	}
	c.remember(m)
	return s.Send(m)
}

func (s stateStream) nonce() (string, error) {
	m, err := s.Recv()
	return m.GetNonce(), err
}

func (s stateStream) receive() (Response, string, error) {
	m, err := s.Recv()
	if err != nil {
		return Response{}, "", err
	}
	r, err := newResponse(m, m.GetResources(), unwrapped)
	return r, m.GetVersionInfo(), err
}

// message is what the responses of both protocols have.
type message interface {
	GetTypeUrl() string
	GetNonce() string
	GetResourceErrors() []*discoveryv3.ResourceError
}

// newResponse returns a response with resources that are read by a function.
func newResponse[R any](m message, resources []R, read func(wire.Type, R) (Held, error)) (Response, error) {
	t, ok := wire.TypeOf(m.GetTypeUrl())
	if !ok {
		return Response{}, fmt.Errorf("a response has the type %s", m.GetTypeUrl())
	}
	all, err := each(t, resources, read)
	return Response{Type: t, Nonce: m.GetNonce(), Resources: all, Errors: errorsOf(m.GetResourceErrors())}, err
}

func each[R any](t wire.Type, list []R, read func(wire.Type, R) (Held, error)) ([]Held, error) {
	var all []Held
	for _, r := range list {
		h, err := read(t, r)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

// wrapped returns the resource in a wrapper.
func wrapped(t wire.Type, r *discoveryv3.Resource) (Held, error) {
	h := Held{Type: t, Name: r.GetName(), Version: r.GetVersion(), Body: string(r.GetResource().GetValue())}
	if url := r.GetResource().GetTypeUrl(); url != t.URL() {
		return h, fmt.Errorf("a resource has the type %s instead of %s", url, t.URL())
	}
	if name := r.GetResourceName(); name != nil {
		if h.Name != "" {
			return h, fmt.Errorf("resource %s has a name and a resource_name", h.Name)
		}
		h.Name = name.GetName()
		h.Located = true
		var err error
		h.Constraints, err = constraintsOf(name)
		return h, err
	}
	return h, nil
}

// unwrapped returns a resource of state of the world, where only variants have a
// wrapper.
func unwrapped(t wire.Type, a *anypb.Any) (Held, error) {
	m, err := a.UnmarshalNew()
	if err != nil {
		return Held{}, err
	}
	if wrapper, ok := m.(*discoveryv3.Resource); ok {
		return wrapped(t, wrapper)
	}
	if a.GetTypeUrl() != t.URL() {
		return Held{}, fmt.Errorf("a resource has the type %s instead of %s", a.GetTypeUrl(), t.URL())
	}
	return Held{Type: t, Name: nameOf(m), Body: string(a.GetValue())}, nil
}

func removed(t wire.Type, name *discoveryv3.ResourceName) (Held, error) {
	constraints, err := constraintsOf(name)
	return Held{Type: t, Name: name.GetName(), Located: true, Constraints: constraints}, err
}

func constraintsOf(name *discoveryv3.ResourceName) (string, error) {
	if name.GetDynamicParameterConstraints() == nil {
		return "", nil
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(name.GetDynamicParameterConstraints())
	return string(b), err
}

func errorsOf(in []*discoveryv3.ResourceError) map[string]codes.Code {
	errors := map[string]codes.Code{}
	for _, e := range in {
		errors[e.GetResourceName().GetName()] = codes.Code(e.GetErrorDetail().GetCode())
	}
	return errors
}

func locators(in []Locator) []*discoveryv3.ResourceLocator {
	var out []*discoveryv3.ResourceLocator
	for _, l := range in {
		out = append(out, l.proto())
	}
	return out
}

// detail returns the error_detail of a NACK, nil for an ACK.
func detail(message string) *rpcstatus.Status {
	if message == "" {
		return nil
	}
	return &rpcstatus.Status{Code: int32(codes.InvalidArgument), Message: message}
}
