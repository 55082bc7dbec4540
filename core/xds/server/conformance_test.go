package server_test

import (
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// protocols has the scripts of each protocol.
var protocols = []struct {
	name string
	path string
	wire func() speaker
}{
	{"delta", "testdata/conformance/delta.txt", func() speaker { return &deltaWire{} }},
	{"sotw", "testdata/conformance/sotw.txt", func() speaker { return &stateWire{} }},
}

// meshmatch is two replicas of the server.
type meshmatch struct {
	source   *xdstest.Source
	replicas [2]*running
}

// newMeshmatch starts the replicas. Without edits, nothing drains.
func newMeshmatch(t testing.TB, edits ...func(*server.Options)) *meshmatch {
	m := &meshmatch{source: xdstest.NewSource(xdstest.NewState())}
	for i := range m.replicas {
		o := server.Options{Source: m.source, Parameters: metadataOf, Drain: -1}
		for _, edit := range edits {
			edit(&o)
		}
		m.replicas[i] = start(t, o)
	}
	return m
}

func (m *meshmatch) publish(state *xdstest.State) { m.source.Publish(state) }

func (m *meshmatch) connect(_ testing.TB, replica int) grpc.ClientConnInterface {
	return m.replicas[replica].conn
}

// metadataOf makes each text in the metadata of a node a parameter.
func metadataOf(metadata *structpb.Struct) map[string]string {
	parameters := map[string]string{}
	for key, value := range metadata.GetFields() {
		parameters[key] = value.GetStringValue()
	}
	return parameters
}

func TestConformance(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			for _, s := range readScripts(t, protocol.path) {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						if err := play(t, s, newMeshmatch(t), protocol.wire()); err != nil {
							t.Error(err)
						}
					})
				})
			}
		})
	}
}
