package resource

import "github.com/meshmatch/meshmatch/core/diag"

// Prober is a [diag.Prober] for many resources. It validates a list of outbounds that
// several dataplanes share only once. Nothing may change the resources while the Prober
// is in use. The zero Prober is ready to use, by one goroutine at a time.
type Prober struct {
	diag.Prober
	// valid contains lists of outbounds without errors, by the first outbound, each with
	// its length.
	valid map[*Outbound]int
}

// maxProbedLists limits the lists that a prober keeps. A mesh in which dataplanes share
// lists has few different ones.
const maxProbedLists = 1024

// FailsDataplane reports whether Validate reports an error of the dataplane.
func (p *Prober) FailsDataplane(d *Dataplane) bool {
	return p.Fails(func(at *diag.At) { d.validate(at, DataplaneKind) }) || p.failsNetworking(d)
}

func (p *Prober) failsNetworking(d *Dataplane) bool {
	return p.Fails(d.validateProxy) || p.failsOutbounds(d.Outbounds)
}

func (p *Prober) failsOutbounds(list []Outbound) bool {
	if len(list) == 0 || p.valid[&list[0]] == len(list) {
		return false
	}
	if p.Fails(func(at *diag.At) { validateOutbounds(at, list) }) {
		return true
	}
	if p.valid == nil || len(p.valid) >= maxProbedLists {
		p.valid = make(map[*Outbound]int)
	}
	p.valid[&list[0]] = len(list)
	return false
}
