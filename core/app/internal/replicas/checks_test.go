package replicas

import (
	"cmp"
	"fmt"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// written are the numbers of dataplanes of the states that were written, or are being
// written, by the number of the state.
type written []int

// cluster returns the number of the state of the cluster with the given body.
func (w written) cluster(body string) (int, error) {
	var c clusterv3.Cluster
	if err := proto.Unmarshal([]byte(body), &c); err != nil {
		return 0, err
	}
	number := int(c.GetConnectTimeout().AsDuration().Milliseconds())
	if number < 1 || number >= len(w) {
		return 0, fmt.Errorf("the cluster is of state %d, and the last one is %d", number, len(w)-1)
	}
	return number, nil
}

// endpoints checks that the endpoints belong to one state and returns its number. If mixed
// is set, the dataplanes of a state are written one after the other: the first ones may
// be of the next state.
func (w written) endpoints(body string, mixed bool) (int, error) {
	var a endpointv3.ClusterLoadAssignment
	if err := proto.Unmarshal([]byte(body), &a); err != nil {
		return 0, err
	}
	type dataplane struct{ i, number int }
	var all []dataplane
	for _, locality := range a.GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			number, i, err := numberOf(e.GetEndpoint().GetAddress().GetSocketAddress().GetAddress())
			if err != nil {
				return 0, err
			}
			all = append(all, dataplane{i, number})
		}
	}
	slices.SortFunc(all, func(a, b dataplane) int { return cmp.Compare(a.i, b.i) })
	if len(all) == 0 {
		return 0, fmt.Errorf("there are no endpoints")
	}
	first, last := all[0].number, all[len(all)-1].number
	if first >= len(w) || last < 1 || last != first && !(mixed && last == first-1) {
		return 0, fmt.Errorf("the endpoints are of the states %d to %d; written are %d", first, last, len(w)-1)
	}
	for i, d := range all {
		if d.i != i || i > 0 && d.number > all[i-1].number {
			return 0, fmt.Errorf("endpoint %d of state %d follows endpoint %d of state %d", d.i, d.number, i-1, all[max(i-1, 0)].number)
		}
	}
	if len(all) != w[first] && !mixed {
		return 0, fmt.Errorf("there are %d endpoints of state %d, which has %d", len(all), first, w[first])
	}
	return first, nil
}

// resource checks a resource, and returns the number of its state; 0: it has none.
func (w written) resource(t wire.Type, name, body string, mixed bool) (int, error) {
	switch {
	case t == wire.ClusterType && name == clusterName:
		return w.cluster(body)
	case t == wire.EndpointType && name == endpointsName:
		return w.endpoints(body, mixed)
	}
	return 0, nil
}
