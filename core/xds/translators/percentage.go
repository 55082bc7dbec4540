package translators

import (
	"math"

	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/meshmatch/meshmatch/core/conf"
)

// fraction returns a percentage as parts of a million.
func fraction(p conf.Percentage) *typev3.FractionalPercent {
	return &typev3.FractionalPercent{
		Numerator:   uint32(math.Round(p.Float() * 10_000)),
		Denominator: typev3.FractionalPercent_MILLION,
	}
}
