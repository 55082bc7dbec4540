package serve_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// make bench-streams measures with 10,000 streams too.
var streamsFlag = flag.String("streams", "1000", "numbers of streams of the benchmarks, with commas between them")

// streamsOfConnection is how many streams share one TCP connection.
const streamsOfConnection = 500

// BenchmarkStreamEdit edits a policy that changes one cluster of all dataplanes, each with
// 10 outbounds and one delta stream of four types, over TCP on loopback. The metric
// edit-ms is the time from before the file is written until the last stream has got the
// cluster and its endpoints. It includes the 100 ms in which files must not change before
// they are read. The clients run on the same processors; cpu-ms is the processor time of
// an edit, theirs too.
func BenchmarkStreamEdit(b *testing.B) {
	for text := range strings.SplitSeq(*streamsFlag, ",") {
		streams, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("streams="+text, func(b *testing.B) { benchmarkEdit(b, streams) })
	}
}

func benchmarkEdit(b *testing.B, streams int) {
	r := &running{t: b, dir: b.TempDir(), log: &serve.LockedBuffer{}, real: true}
	set := &resource.Set{}
	for i := range streams {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(i, 10))
	}
	dataplanes, err := shape.JSON(set)
	if err != nil {
		b.Fatal(err)
	}
	r.write("dataplanes.json", string(dataplanes))
	r.write("policy.yaml", editedPolicy(1))
	r.run(func(o *serve.Options) { o.Quiet, o.Rescan = 0, 0 })
	var responses atomic.Int64
	connections := connect(b, r, set.Dataplanes, &responses)
	await := func(n int) {
		for responses.Load() < int64(n) {
			if time.Sleep(time.Millisecond); b.Context().Err() != nil {
				b.Fatalf("%d responses of %d", responses.Load(), n)
			}
		}
	}
	got := streams * 4
	await(got)
	var slowest, all time.Duration
	cpu := usage.CPU()
	b.ResetTimer()
	for i := range b.N {
		begin := time.Now()
		if err := os.WriteFile(filepath.Join(r.dir, "policy.yaml"), []byte(editedPolicy(i+2)), 0o644); err != nil {
			b.Fatal(err)
		}
		got += streams * 2 // clusters, then endpoints
		await(got)
		took := time.Since(begin)
		slowest, all = max(slowest, took), all+took
	}
	b.StopTimer()
	b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "edit-ms")
	b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
	b.ReportMetric(float64((usage.CPU()-cpu).Milliseconds())/float64(b.N), "cpu-ms")
	for _, c := range connections {
		c.Close()
	}
	if err := r.stop(); err != nil {
		b.Error(err)
	}
}

func editedPolicy(seconds int) string {
	return fmt.Sprintf("{type: MeshTimeout, name: edited, spec: {to: [{targetRef: {kind: MeshService, name: %s}, default: {connectionTimeout: %ds}}]}}", shape.Service(3), seconds)
}

// connect starts a stream for each dataplane, which subscribes all resources. The
// responses are counted and ACKed.
func connect(b *testing.B, r *running, dataplanes []*resource.Dataplane, responses *atomic.Int64) (connections []*grpc.ClientConn) {
	var names []string
	for _, o := range dataplanes[0].Outbounds {
		names = append(names, variant.Destination{Mesh: shape.Mesh, Tags: o.Tags}.Name())
	}
	for i, d := range dataplanes {
		if i%streamsOfConnection == 0 {
			conn, err := grpc.NewClient(r.XDSAddr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				b.Fatal(err)
			}
			connections = append(connections, conn)
		}
		stream, err := connections[len(connections)-1].NewStream(b.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true},
			discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResources_FullMethodName, grpc.ForceCodecV2(receiptCodec{encoding.GetCodecV2(proto.Name)}))
		if err != nil {
			b.Fatal(err)
		}
		node := &corev3.Node{Id: d.KRI(""), UserAgentName: "envoy"}
		for _, t := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType} {
			request := &discoveryv3.DeltaDiscoveryRequest{Node: node, TypeUrl: t.URL()}
			if t == wire.EndpointType || t == wire.RouteType {
				request.ResourceNamesSubscribe = names
			}
			if err := stream.SendMsg(request); err != nil {
				b.Fatal(err)
			}
			node = nil
		}
		go func() {
			for {
				var got receipt
				if stream.RecvMsg(&got) != nil {
					return // the connection is closed in the end; a missing response is found before
				}
				responses.Add(1)
				_ = stream.SendMsg(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: got.url, ResponseNonce: got.nonce})
			}
		}()
	}
	return connections
}

// A receipt is what a client needs for the ACK of a response.
type receipt struct{ url, nonce string }

// receiptCodec decodes receipts, so that clients cost little.
type receiptCodec struct{ encoding.CodecV2 }

// Unmarshal implements encoding.CodecV2.
func (receiptCodec) Unmarshal(data mem.BufferSlice, v any) error {
	got, text := v.(*receipt), data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer text.Free()
	const typeURL, nonce = 4, 5
	for b := text.ReadOnlyData(); len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || kind != protowire.BytesType {
			return io.ErrUnexpectedEOF
		}
		value, m := protowire.ConsumeBytes(b[n:])
		if m < 0 {
			return io.ErrUnexpectedEOF
		}
		switch number {
		case typeURL:
			got.url = string(value)
		case nonce:
			got.nonce = string(value)
		}
		b = b[n+m:]
	}
	return nil
}
