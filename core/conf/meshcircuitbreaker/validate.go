package meshcircuitbreaker

import "github.com/meshmatch/meshmatch/core/strict"

// Validate checks that the factor is a distance.
func (s *SuccessRate) Validate(at *strict.At) {
	if s.StandardDeviationFactor != nil && s.StandardDeviationFactor.Float() <= 0 {
		at.Field("standardDeviationFactor").Errorf("", "must be greater than 0")
	}
}
