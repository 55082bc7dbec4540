package translators

import (
	"math"
	"time"

	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/conf"
)

// Conversions of conf fields, which are nil if not set, to the form of Envoy.

// valueOr returns the value of a field, or the given one if the field is not set.
func valueOr[T any](field *T, otherwise T) T {
	if field == nil {
		return otherwise
	}
	return *field
}

func isTrue(field *bool) bool { return valueOr(field, false) }

// number returns the number of a field; nil if the field is not set.
func number[N ~uint32](field *N) *wrapperspb.UInt32Value {
	if field == nil {
		return nil
	}
	return wrapperspb.UInt32(uint32(*field))
}

// percent returns the percentage of a field; nil if the field is not set.
func percent(field *conf.Percentage) *typev3.Percent {
	if field == nil {
		return nil
	}
	return &typev3.Percent{Value: field.Float()}
}

// fraction returns a percentage as parts of a million.
func fraction(p conf.Percentage) *typev3.FractionalPercent {
	return &typev3.FractionalPercent{
		Numerator:   uint32(math.Round(p.Float() * 10_000)),
		Denominator: typev3.FractionalPercent_MILLION,
	}
}

// setDuration sets a duration of a message to the value of a field, if the field is set.
// Envoy counts milliseconds, and zero often is no limit: less than one is rounded up.
func setDuration[D conf.Duration | conf.PositiveDuration](to **durationpb.Duration, field *D) {
	if field == nil {
		return
	}
	d := time.Duration(*field)
	if d > 0 {
		d = max(d, time.Millisecond)
	}
	*to = durationpb.New(d)
}

// setLimit is setDuration for settings of Envoy without a value for "no limit": zero
// removes the limit.
func setLimit(to **durationpb.Duration, field *conf.Duration) {
	if setDuration(to, field); field != nil && *field == 0 {
		*to = nil
	}
}
