package meshcircuitbreaker

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks that the factor is positive.
func (s *SuccessRate) Validate(at *diag.At) {
	if s.StandardDeviationFactor != nil && s.StandardDeviationFactor.Float() <= 0 {
		at.Field("standardDeviationFactor").Errorf("", "must be greater than 0")
	}
}

// Validate warns about an object without limits.
func (l *ConnectionLimits) Validate(at *diag.At) { conf.WarnIdle(at, l) }

// Validate warns about an object without fields, and about one without detectors,
// which ejects no endpoint unless another policy has detectors.
func (o *OutlierDetection) Validate(at *diag.At) {
	conf.WarnIdle(at, o)
	disabled := o.Disabled != nil && *o.Disabled
	if *o != (OutlierDetection{}) && o.Detectors == nil && o.HealthyPanicThreshold == nil && !disabled {
		at.Warnf("give detectors", "without detectors no endpoint is ejected, unless another policy has some")
	}
}

// Validate warns about an object without detectors.
func (d *Detectors) Validate(at *diag.At) { conf.WarnIdle(at, d) }
