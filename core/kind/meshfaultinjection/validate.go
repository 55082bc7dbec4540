package meshfaultinjection

import "github.com/meshmatch/meshmatch/core/diag"

// Validate checks that the fault has an effect.
func (f *Fault) Validate(at *diag.At) {
	if f.Abort == nil && f.Delay == nil && f.ResponseBandwidth == nil {
		at.Errorf(diag.EmptyValue, "give at least one of abort, delay and responseBandwidth", "a fault must do something")
	}
}

// Validate reports statuses with which Envoy does not abort.
func (a *Abort) Validate(at *diag.At) {
	if a.HTTPStatus < 200 {
		at.Field("httpStatus").Errorf(diag.OutOfRange, "", "must be a status from 200 to 599")
	}
}

// Validate reports a delay of zero, which Envoy does not accept.
func (d *Delay) Validate(at *diag.At) {
	if d.Value == 0 {
		at.Field("value").Errorf(diag.OutOfRange, "", "must be longer than 0s")
	}
}
