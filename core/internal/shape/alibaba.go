package shape

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/meshmatch/meshmatch/core/resource"
)

// AlibabaSource is where the statistics are published.
const AlibabaSource = "G. Winchester and others, Complexity at Scale: A Quantitative Analysis of an Alibaba Microservice Deployment, arXiv 2504.13141v2, table 1"

// role is what a service does in calls.
type role struct {
	services  float64 // the share of the services
	instances float64 // of a service, on average
}

// The roles of the 67,760 services and 1,866,091 instances of a deployment at Alibaba. An entry is
// called by none, and a leaf calls none.
const (
	entry = iota
	middle
	leaf
)

var roles = [...]role{entry: {0.13, 16}, middle: {0.48, 41}, leaf: {0.39, 17}}

// Alibaba returns n dataplanes of services with the published shares of roles and instances. The
// study finds that instances, callers and calls have long tails, and gives no parameters of them.
// Here the numbers of instances and calls follow Pareto's distribution with the exponent 1.5. A
// tenth of the services is called by more than half of all outbounds. A service calls the given
// number of services on average.
func Alibaba(n, outbounds int) []*resource.Dataplane {
	random := rand.New(rand.NewPCG(2504, 13141))
	var services []alibabaService
	for left := n; left > 0; {
		s := alibabaService{role: entry}
		switch share := random.Float64(); {
		case share >= roles[entry].services+roles[middle].services:
			s.role = leaf
		case share >= roles[entry].services:
			s.role = middle
		}
		s.instances = min(left, pareto(random, roles[s.role].instances))
		left -= s.instances
		services = append(services, s)
	}
	dataplanes := make([]*resource.Dataplane, 0, n)
	for i := range services {
		var calls []int
		if services[i].role != leaf {
			calls = alibabaCalls(random, services, i, pareto(random, float64(outbounds)/(1-roles[leaf].services)))
		}
		for instance := range services[i].instances {
			dataplanes = append(dataplanes, graphInstance(i, instance, len(dataplanes), calls, AlibabaService))
		}
	}
	return dataplanes
}

type alibabaService struct{ role, instances int }

// AlibabaService is the name of a service by its number.
func AlibabaService(i int) string { return fmt.Sprintf("ms-%05d", i) }

// alibabaCalls returns distinct services that are no entries, which the service from calls. The
// number of the called service is a power of a random number, so the first are called most.
func alibabaCalls(random *rand.Rand, services []alibabaService, from, n int) []int {
	var calls []int
	known := map[int]bool{from: true}
	for range 4 * n { // some are found again
		to := int(float64(len(services)) * math.Pow(random.Float64(), 4))
		if len(calls) < n && !known[to] && services[to].role != entry {
			known[to] = true
			calls = append(calls, to)
		}
	}
	return calls
}

// pareto returns a number of at least 1 and at most 50 times the mean, about which it is on average.
func pareto(random *rand.Rand, mean float64) int {
	const exponent = 1.5
	x := mean * (exponent - 1) / exponent * math.Pow(1-random.Float64(), -1/exponent)
	return max(1, int(math.Round(min(x, 50*mean))))
}
