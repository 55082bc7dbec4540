package conf

import (
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Count is a number of things, at least one.
//
//confgen:openapi {"minimum": 1}
type Count uint32

// Validate reports zero.
func (c Count) Validate(at *diag.At) {
	if c == 0 {
		at.Errorf(diag.OutOfRange, "", "must be at least 1")
	}
}

// Percent is a share in whole percents, 0 to 100.
//
//confgen:openapi {"maximum": 100}
type Percent uint32

// Validate reports values above 100.
func (p Percent) Validate(at *diag.At) {
	if p > 100 {
		at.Errorf(diag.OutOfRange, "", "must be from 0 to 100")
	}
}

// Percentage is a share in percent, 0 to 100, that may have a fraction: 50 or
// "50.5". Like [IntOrString], it retains the literal.
//
//confgen:openapi {"x-kubernetes-int-or-string": true, "minimum": 0, "maximum": 100, "pattern": "^(\\+?0*(100(\\.0*)?|[0-9]{0,2}\\.[0-9]*|[0-9]{1,2})|-0*(\\.0*)?)$"}
type Percentage IntOrString

// DecodeAt accepts what IntOrString accepts.
func (p *Percentage) DecodeAt(in *strict.Value) { (*IntOrString)(p).DecodeAt(in) }

// Validate checks the bounds.
func (p Percentage) Validate(at *diag.At) {
	if f := p.Float(); f < 0 || f > 100 {
		at.Errorf(diag.OutOfRange, "", "must be from 0 to 100")
	}
}

// MarshalJSON returns the literal.
func (p Percentage) MarshalJSON() ([]byte, error) { return IntOrString(p).MarshalJSON() }

// Float returns the number, in percent.
func (p Percentage) Float() float64 { return IntOrString(p).Float() }

// Port is a TCP or UDP port.
//
//confgen:openapi {"minimum": 1, "maximum": 65535}
type Port uint32

// Validate reports a number that is not a port.
func (p Port) Validate(at *diag.At) {
	if p < 1 || p > 65535 {
		at.Errorf(diag.OutOfRange, "a port is a number from 1 to 65535", "bad port %d", uint32(p))
	}
}

// ValidatePort checks a port in a field of another type.
func ValidatePort(at *diag.At, field string, p uint32) {
	if p < 1 || p > 65535 {
		Port(p).Validate(at.Field(field))
	}
}

// StatusCode is the status of an HTTP response.
//
//confgen:openapi {"minimum": 100, "maximum": 599}
type StatusCode int32

// Validate accepts 100 to 599.
func (s StatusCode) Validate(at *diag.At) {
	if s < 100 || s > 599 {
		at.Errorf(diag.OutOfRange, "", "must be an HTTP status, from 100 to 599")
	}
}
