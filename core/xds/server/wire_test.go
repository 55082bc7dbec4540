package server_test

import (
	"context"
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A speaker speaks one protocol for a player.
type speaker interface {
	open(context.Context, grpc.ClientConnInterface) (receive, error)
	send(p *player, t wire.Type, words []string) error
}

// words is a request of a script.
type words struct {
	node                 string
	add, remove          []string
	addLoc, dropLoc      []*discoveryv3.ResourceLocator
	versions             map[string]string
	version, nonce       string
	ack                  bool
	nack                 string
	hasVersion, hasNonce bool
}

// parse reads the words of a request.
func (p *player) parse(t wire.Type, in []string) words {
	var w words
	for _, word := range in {
		key, value, _ := strings.Cut(word, ":")
		switch {
		case word == "ack":
			w.ack = true
		case key == "nack":
			w.nack = strings.ReplaceAll(value, "_", " ")
		case key == "node":
			w.node = value
		case key == "has":
			if w.versions == nil {
				w.versions = map[string]string{}
			}
			name, contents, _ := strings.Cut(value, "=")
			version, isList := "", strings.Contains(contents, ",")
			for content := range strings.SplitSeq(contents, ",") {
				sent, ok := p.memory.versions[t.String()+" "+name+"="+content]
				if !ok {
					sent = content
				}
				if version += sent; isList {
					version += ","
				}
			}
			w.versions[name] = version
		case key == "version":
			w.version, w.hasVersion = value, true
		case key == "nonce":
			w.nonce, w.hasNonce = value, true
		case strings.HasPrefix(word, "+@"):
			w.addLoc = append(w.addLoc, locatorOf(word[2:]))
		case strings.HasPrefix(word, "-@"):
			w.dropLoc = append(w.dropLoc, locatorOf(word[2:]))
		case strings.HasPrefix(word, "+"):
			w.add = append(w.add, word[1:])
		case strings.HasPrefix(word, "-"):
			w.remove = append(w.remove, word[1:])
		default:
			p.t.Fatalf("no word %q", word)
		}
	}
	return w
}

// locatorOf reads NAME{KEY=VALUE,KEY=VALUE}.
func locatorOf(text string) *discoveryv3.ResourceLocator {
	name, rest, _ := strings.Cut(strings.TrimSuffix(text, "}"), "{")
	l := &discoveryv3.ResourceLocator{Name: name, DynamicParameters: map[string]string{}}
	for pair := range strings.SplitSeq(rest, ",") {
		if key, value, ok := strings.Cut(pair, "="); ok {
			l.DynamicParameters[key] = value
		}
	}
	return l
}

// nodeOf reads ID or ID{KEY=VALUE}, a node with metadata.
func nodeOf(text string) *corev3.Node {
	of := locatorOf(text)
	n := node(of.Name)
	if id, ok := strings.CutPrefix(of.Name, "gRPC/"); ok {
		n.Id, n.UserAgentName = id, "gRPC Go"
	}
	if len(of.DynamicParameters) > 0 {
		n.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{}}
		for key, value := range of.DynamicParameters {
			n.Metadata.Fields[key] = structpb.NewStringValue(value)
		}
	}
	return n
}

func detail(message string) *rpcstatus.Status {
	if message == "" {
		return nil
	}
	return &rpcstatus.Status{Code: int32(codes.InvalidArgument), Message: message}
}

// deltaWire is the delta protocol.
type deltaWire struct {
	stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
}

func (d *deltaWire) open(ctx context.Context, conn grpc.ClientConnInterface) (receive, error) {
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).DeltaAggregatedResources(ctx)
	d.stream = stream
	return func() (func(*player) string, error) {
		m, err := stream.Recv()
		return func(p *player) string { return p.deltaText(m) }, err
	}, err
}

func (d *deltaWire) send(p *player, t wire.Type, in []string) error {
	w := p.parse(t, in)
	m := &discoveryv3.DeltaDiscoveryRequest{
		TypeUrl: t.URL(), ResourceNamesSubscribe: w.add, ResourceNamesUnsubscribe: w.remove,
		ResourceLocatorsSubscribe: w.addLoc, ResourceLocatorsUnsubscribe: w.dropLoc,
		InitialResourceVersions: w.versions, ResponseNonce: w.nonce, ErrorDetail: detail(w.nack),
	}
	if w.node != "" {
		m.Node = nodeOf(w.node)
	}
	if w.ack || w.nack != "" {
		m.ResponseNonce = p.memory.nonce[t.String()]
	}
	return d.stream.Send(m)
}

// deltaText writes a response in the syntax of scripts.
func (p *player) deltaText(m *discoveryv3.DeltaDiscoveryResponse) string {
	t, _ := wire.TypeOf(m.GetTypeUrl())
	p.memory.nonce[t.String()] = m.GetNonce()
	out := []string{t.String()}
	for _, r := range m.GetResources() {
		out = append(out, p.wrapperText(t, r))
	}
	for _, name := range m.GetRemovedResources() {
		out = append(out, "-"+name)
	}
	for _, name := range m.GetRemovedResourceNames() {
		out = append(out, "-"+p.nameText(name))
	}
	return strings.Join(append(out, errorTexts(m.GetResourceErrors())...), " ")
}

// wrapperText returns NAME=CONTENT, or @NAME[CONSTRAINTS]=CONTENT for a variant.
func (p *player) wrapperText(t wire.Type, r *discoveryv3.Resource) string {
	m, err := r.GetResource().UnmarshalNew()
	if err != nil {
		p.t.Error(err)
		return ""
	}
	inner, content := contentOf(p.t, m)
	p.memory.versions[t.String()+" "+inner+"="+content] = r.GetVersion()
	if name := r.GetResourceName(); name != nil {
		return p.nameText(name) + "=" + content
	}
	return r.GetName() + "=" + content
}

func (p *player) nameText(name *discoveryv3.ResourceName) string {
	if name.GetDynamicParameterConstraints() == nil {
		return "@" + name.GetName()
	}
	return fmt.Sprintf("@%s[%s]", name.GetName(), constraintText(p.t, name.GetDynamicParameterConstraints()))
}

func errorTexts(errors []*discoveryv3.ResourceError) []string {
	var out []string
	for _, e := range errors {
		out = append(out, "!"+e.GetResourceName().GetName()+"="+codeText(e.GetErrorDetail().GetCode()))
	}
	return out
}

// stateWire is the state of the world protocol. Each request of a script has all
// names.
type stateWire struct {
	stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient
}

func (d *stateWire) open(ctx context.Context, conn grpc.ClientConnInterface) (receive, error) {
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(ctx)
	d.stream = stream
	return func() (func(*player) string, error) {
		m, err := stream.Recv()
		return func(p *player) string { return p.stateText(m) }, err
	}, err
}

func (d *stateWire) send(p *player, t wire.Type, in []string) error {
	w := p.parse(t, in)
	key := t.String()
	if w.ack && w.nack == "" {
		p.memory.version[key] = p.memory.pending[key]
	}
	m := &discoveryv3.DiscoveryRequest{
		TypeUrl: t.URL(), ResourceNames: w.add, ResourceLocators: w.addLoc,
		VersionInfo: p.memory.version[key], ResponseNonce: p.memory.nonce[key], ErrorDetail: detail(w.nack),
	}
	if w.node != "" {
		m.Node = nodeOf(w.node)
	}
	if w.hasVersion {
		m.VersionInfo = w.version
	}
	if w.hasNonce {
		m.ResponseNonce = w.nonce
	}
	return d.stream.Send(m)
}

// stateText writes a response in the syntax of scripts.
func (p *player) stateText(m *discoveryv3.DiscoveryResponse) string {
	t, _ := wire.TypeOf(m.GetTypeUrl())
	p.memory.nonce[t.String()], p.memory.pending[t.String()] = m.GetNonce(), m.GetVersionInfo()
	out := []string{t.String()}
	for _, a := range m.GetResources() {
		out = append(out, p.anyText(t, a))
	}
	return strings.Join(append(out, errorTexts(m.GetResourceErrors())...), " ")
}

func (p *player) anyText(t wire.Type, a *anypb.Any) string {
	m, err := a.UnmarshalNew()
	if err != nil {
		p.t.Error(err)
		return ""
	}
	if wrapper, ok := m.(*discoveryv3.Resource); ok {
		return p.wrapperText(t, wrapper)
	}
	name, content := contentOf(p.t, m)
	return name + "=" + content
}
