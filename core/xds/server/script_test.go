package server_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A subject is a server that scripts run against.
type subject interface {
	// publish makes a state the newest one.
	publish(*xdstest.State)
	// connect returns a connection to the server, or to its other replica.
	connect(t testing.TB, replica int) grpc.ClientConnInterface
}

// A script is a conversation between a client and a server. testdata/conformance/README
// has its syntax.
type script struct {
	name  string
	lines []string
}

// readScripts returns the scripts of a file: each begins with a line "== NAME".
func readScripts(t testing.TB, path string) []script {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var scripts []script
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch name, found := strings.CutPrefix(line, "== "); {
		case found:
			scripts = append(scripts, script{name: name})
		case line == "" || strings.HasPrefix(line, "#"):
		default:
			s := &scripts[len(scripts)-1]
			s.lines = append(s.lines, line)
		}
	}
	return scripts
}

// A player runs a script.
type player struct {
	t       testing.TB
	subject subject
	wire    speaker
	state   *xdstest.State
	stop    func()
	got     <-chan received
	memory  memory
}

// memory is what a client remembers of the responses.
type memory struct {
	nonce    map[string]string // of the last response, by type
	version  map[string]string // the last accepted version_info, by type
	pending  map[string]string // the version_info of the last response
	versions map[string]string // of resources, by "TYPE NAME=CONTENT"
}

// received is a response, or the end of the stream. Text writes the response in the
// syntax of scripts, and the client keeps it.
type received struct {
	text func(*player) string
	err  error
}

// textFor returns the text, or the error.
func (r received) textFor(p *player) string {
	if r.err != nil {
		return r.err.Error()
	}
	return r.text(p)
}

// receive waits for the next response of a stream.
type receive func() (text func(*player) string, err error)

// play runs a script, and returns the first line that fails and why.
func play(t testing.TB, s script, subject subject, wire speaker) error {
	p := &player{t: t, subject: subject, wire: wire, state: xdstest.NewState()}
	p.memory.forget()
	p.memory.versions = map[string]string{}
	defer func() {
		if p.stop != nil {
			p.stop()
		}
	}()
	for i, line := range s.lines {
		if err := p.step(line); err != nil {
			return fmt.Errorf("step %d: %s: %w", i+1, line, err)
		}
	}
	return nil
}

// forget drops what belongs to a stream.
func (m *memory) forget() {
	m.nonce, m.pending = map[string]string{}, map[string]string{}
	if m.version == nil {
		m.version = map[string]string{}
	}
}

func (p *player) step(line string) error {
	fields := strings.Fields(line)
	switch fields[0] {
	case "state":
		p.setState(fields[1:])
	case "variants":
		p.setVariants(fields[1:])
	case "unknown", "denied":
		p.subject.(*partly).set(fields[0], fields[1:])
		p.subject.publish(p.state)
	case "reconnect":
		p.stop()
		p.stop = nil
		p.memory.forget()
		return p.connect(len(fields) > 1)
	case ">":
		return p.send(fields[1:])
	case "<":
		return p.expect(strings.Join(fields[1:], " "))
	case "quiet", "pass":
		pause := time.Second
		if fields[0] == "pass" {
			var err error
			pause, err = time.ParseDuration(fields[1])
			must(p.t, err)
			pause-- // what comes at its end is expected next
			defer time.Sleep(time.Nanosecond)
		}
		time.Sleep(pause) // of the clock of the bubble
		if r, any := p.next(); any {
			return fmt.Errorf("got %s", r.textFor(p))
		}
	case "end":
		r, any := p.next()
		if !any {
			return fmt.Errorf("the stream does not end")
		}
		if status.Code(r.err).String() != fields[1] {
			return fmt.Errorf("got %s", r.textFor(p))
		}
	default:
		p.t.Fatalf("no step %q", line)
	}
	return nil
}

// setState handles "state NODE TYPE: RESOURCE...; TYPE: ..." and "state NODE gone".
func (p *player) setState(fields []string) {
	next := p.state.Clone()
	id, rest := fields[0], fields[1:]
	if len(rest) == 1 && rest[0] == "gone" {
		delete(next.Nodes, id)
	} else {
		var listed, named []*wire.Resource
		var t wire.Type
		for _, f := range rest {
			if name, ok := strings.CutSuffix(f, ":"); ok {
				t = typeOf(p.t, name)
				continue
			}
			f, hidden := strings.CutPrefix(f, "~")
			name, content, _ := strings.Cut(f, "=")
			if r := xdstest.Resource(t, name, content); hidden {
				named = append(named, r)
			} else {
				listed = append(listed, r)
			}
		}
		next.Nodes[id] = xdstest.WithNamed(xdstest.Snapshot(listed...), named...)
	}
	p.state = next
	p.subject.publish(next)
}

// setVariants handles "variants TYPE NAME [KEY=VALUE]=CONTENT [!KEY=VALUE]=CONTENT".
func (p *player) setVariants(fields []string) {
	next := p.state.Clone()
	t, name := typeOf(p.t, fields[0]), fields[1]
	key := xdstest.Name{Type: t, Name: name}
	delete(next.Variants, key)
	for _, f := range fields[2:] {
		constraint, content, _ := strings.Cut(strings.TrimPrefix(f, "["), "]=")
		next.Variants[key] = append(next.Variants[key], xdstest.Variant(xdstest.Resource(t, name, content), constraintJSON(constraint)))
	}
	p.state = next
	p.subject.publish(next)
}

// constraintJSON returns the constraint of KEY=VALUE or !KEY=VALUE; an empty text is
// no constraint.
func constraintJSON(text string) string {
	if text == "" {
		return ""
	}
	text, not := strings.CutPrefix(text, "!")
	key, value, _ := strings.Cut(text, "=")
	json := fmt.Sprintf(`{"constraint": {"key": %q, "value": %q}}`, key, value)
	if not {
		json = fmt.Sprintf(`{"notConstraints": %s}`, json)
	}
	return json
}

// constraintText is the inverse of constraintJSON, for a message.
func constraintText(t testing.TB, m *variant.Proto) string {
	c, err := variant.FromProto(m)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(strings.ReplaceAll(c.String(), "!=", "≠"), " ", "")
}

func (p *player) connect(replica bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	at := 0
	if replica {
		at = 1
	}
	receive, err := p.wire.open(ctx, p.subject.connect(p.t, at))
	if err != nil {
		cancel()
		return err
	}
	got := make(chan received, 16)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			r, err := receive()
			got <- received{r, err}
			if err != nil {
				return
			}
		}
	}()
	p.got = got
	p.stop = func() {
		cancel()
		for {
			select {
			case <-got:
			case <-done:
				return
			}
		}
	}
	return nil
}

func (p *player) send(fields []string) error {
	if p.stop == nil {
		if err := p.connect(false); err != nil {
			return err
		}
	}
	return p.wire.send(p, typeOf(p.t, fields[0]), fields[1:])
}

// next waits until the server waits for the client, and returns what it has sent, if
// anything.
func (p *player) next() (r received, any bool) {
	synctest.Wait()
	select {
	case r = <-p.got:
		return r, true
	default:
		return r, false
	}
}

// expect compares the next response with a line.
func (p *player) expect(want string) error {
	r, any := p.next()
	if !any {
		return fmt.Errorf("no response")
	}
	if r.err != nil {
		return r.err
	}
	if got := r.textFor(p); canonical(got) != canonical(want) {
		return fmt.Errorf("got %s", got)
	}
	return nil
}

// canonical sorts the words after the type.
func canonical(line string) string {
	words := strings.Fields(line)
	slices.Sort(words[1:])
	return strings.Join(words, " ")
}

// typeOf returns the type of a name such as clusters. Others are not served.
func typeOf(t testing.TB, name string) wire.Type {
	for k := range wire.Type(wire.NumTypes) {
		if k.String() == name {
			return k
		}
	}
	t.Fatalf("no type %q", name)
	return 0
}

// contentOf returns the name and the content of a message of xdstest.Resource.
func contentOf(t testing.TB, m proto.Message) (name, content string) {
	switch m := m.(type) {
	case *clusterv3.Cluster:
		return m.GetName(), m.GetAltStatName()
	case *endpointv3.ClusterLoadAssignment:
		return m.GetClusterName(), m.GetEndpoints()[0].GetLocality().GetZone()
	case *listenerv3.Listener:
		return m.GetName(), m.GetStatPrefix()
	case *routev3.RouteConfiguration:
		return m.GetName(), m.GetVirtualHosts()[0].GetName()
	case *tlsv3.Secret:
		return m.GetName(), m.GetGenericSecret().GetSecret().GetInlineString()
	case *corev3.TypedExtensionConfig:
		config := &rbacv3.RBAC{}
		if err := m.GetTypedConfig().UnmarshalTo(config); err != nil {
			t.Fatal(err)
		}
		return m.GetName(), config.GetRulesStatPrefix()
	}
	t.Fatalf("no content in %T", m)
	return "", ""
}

// codeText is a code of an error in scripts.
func codeText(code int32) string { return codes.Code(code).String() }
