package translators

import (
	"time"

	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/fault/v3"
	httpfaultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/kind/meshfaultinjection"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

const faultFilter = "envoy.filters.http.fault"

// leastFaults is how many fault filters each HTTP inbound has. A longer list of faults needs
// more of them.
const leastFaults = 2

// faults translates MeshFaultInjection: it adds a filter for each fault of a list. One filter for
// all of them would stop after the first that delays.
func faults(c *xds.Chain, in xds.InboundConf) {
	if _, ok := requestChoices(c, in, "/http"); !ok {
		return
	}
	list := func(e *results.Effective) []meshfaultinjection.Fault {
		if injection := results.MustConfOf[meshfaultinjection.Conf](e); injection != nil {
			return injection.HTTP
		}
		return nil
	}
	longest := leastFaults
	for _, choice := range routeChoices(c, in) {
		longest = max(longest, len(list(choice.Effective)))
	}
	for n := range longest {
		enableFilter(c, faultFilter, n, in, func(e *results.Effective) proto.Message {
			if faults := list(e); n < len(faults) {
				return fault(&faults[n])
			}
			return nil
		})
	}
}

func fault(f *meshfaultinjection.Fault) *httpfaultv3.HTTPFault {
	m := &httpfaultv3.HTTPFault{}
	if f.Abort != nil {
		m.Abort = &httpfaultv3.FaultAbort{
			ErrorType:  &httpfaultv3.FaultAbort_HttpStatus{HttpStatus: uint32(f.Abort.HTTPStatus)},
			Percentage: fraction(f.Abort.Percentage),
		}
	}
	if f.Delay != nil {
		m.Delay = &faultv3.FaultDelay{
			FaultDelaySecifier: &faultv3.FaultDelay_FixedDelay{FixedDelay: durationpb.New(time.Duration(f.Delay.Value))},
			Percentage:         fraction(f.Delay.Percentage),
		}
	}
	if f.ResponseBandwidth != nil {
		m.ResponseRateLimit = &faultv3.FaultRateLimit{
			LimitType: &faultv3.FaultRateLimit_FixedLimit_{FixedLimit: &faultv3.FaultRateLimit_FixedLimit{
				LimitKbps: kibibytesPerSecond(f.ResponseBandwidth.Limit),
			}},
			Percentage: fraction(f.ResponseBandwidth.Percentage),
		}
	}
	return m
}

// kibibytesPerSecond returns a bandwidth in Envoy's unit, which it calls kbps, rounded
// up.
func kibibytesPerSecond(b meshfaultinjection.Bandwidth) uint64 {
	const bits = 8 * 1024
	return (b.KilobitsPerSecond()*1000 + bits - 1) / bits
}
