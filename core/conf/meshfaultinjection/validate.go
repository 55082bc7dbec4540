package meshfaultinjection

import "github.com/meshmatch/meshmatch/core/strict"

// Validate checks that the fault does anything.
func (f *Fault) Validate(at *strict.At) {
	if f.Abort == nil && f.Delay == nil && f.ResponseBandwidth == nil {
		at.Errorf("give at least one of abort, delay and responseBandwidth", "a fault must do something")
	}
}
