package meshcircuitbreaker

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// Validate checks that the conf has a setting.
func (c *Conf) Validate(at *diag.At) { conf.RefuseIdle(at, c) }

// Validate checks that the factor is positive.
func (s *SuccessRate) Validate(at *diag.At) {
	if s.StandardDeviationFactor != nil && s.StandardDeviationFactor.Float() <= 0 {
		at.Field("standardDeviationFactor").Errorf(diag.OutOfRange, "", "must be greater than 0")
	}
}

// Validate warns about an object without limits.
func (l *ConnectionLimits) Validate(at *diag.At) { conf.WarnIdle(at, l) }

// Validate checks that there are detectors, unless the detection is disabled or has a
// panic threshold. Without detectors no endpoint is ejected.
func (o *OutlierDetection) Validate(at *diag.At) {
	disabled := o.Disabled != nil && *o.Disabled
	if o.Detectors == nil && o.HealthyPanicThreshold == nil && !disabled {
		at.Field("detectors").Errorf(diag.MissingField, "without detectors no endpoint is ejected", "required field is missing")
	}
}

// Validate checks that there is a detector.
func (d *Detectors) Validate(at *diag.At) { conf.RefuseIdle(at, d) }
