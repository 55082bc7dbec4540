package conf

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Duration is a non-negative length of time in nanoseconds. It is written in Go's
// syntax with a unit, and marshalled in its shortest form: 1h, 1m30s, 500ms (SPEC
// 1.2).
//
//confgen:openapi {"type": "string", "pattern": "^\\+?(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$"}
type Duration time.Duration

// UnmarshalText reads Go's syntax; the error describes what is wrong.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	switch {
	case err != nil || endsInDigit(text): // Go would accept 0
		return fmt.Errorf("bad duration %q; write a number with a unit, such as 500ms, 15s or 1h30m", text)
	}
	if err := Duration(parsed).check(string(text)); err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// maxDuration is the longest duration that Envoy can hold.
const maxDuration = Duration(math.MaxInt64/time.Second-1) * Duration(time.Second)

// CheckText returns the error of a negative duration, and of one that Envoy cannot hold.
func (d Duration) CheckText() error {
	if d >= 0 && d <= maxDuration {
		return nil // usually, so without the text
	}
	return d.check(d.String())
}

// check returns the error of a duration that is written as text.
func (d Duration) check(text string) error {
	switch {
	case d < 0:
		return fmt.Errorf("bad duration %q; it must not be negative", text)
	case d > maxDuration:
		return fmt.Errorf("bad duration %q; it must not be longer than %s", text, maxDuration)
	}
	return nil
}

func endsInDigit(text []byte) bool {
	last := text[len(text)-1]
	return last >= '0' && last <= '9'
}

// MarshalText returns the shortest form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the shortest form: no zero minutes or seconds after larger
// units.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// PositiveDuration is a [Duration] that must not be zero.
//
//confgen:openapi {"type": "string", "pattern": "^\\+?(([0-9]+(\\.[0-9]*)?|\\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$", "allOf": [{"pattern": "[1-9]"}]}
type PositiveDuration Duration

// UnmarshalText reads the same texts as [Duration].
func (d *PositiveDuration) UnmarshalText(text []byte) error {
	return (*Duration)(d).UnmarshalText(text)
}

// CheckText returns the same errors as the method of [Duration].
func (d PositiveDuration) CheckText() error { return Duration(d).CheckText() }

// Validate reports zero.
func (d PositiveDuration) Validate(at *diag.At) {
	if d == 0 {
		at.Errorf(diag.OutOfRange, "", "must be longer than 0s")
	}
}

// MarshalText returns the shortest form.
func (d PositiveDuration) MarshalText() ([]byte, error) { return Duration(d).MarshalText() }

// String returns the shortest form.
func (d PositiveDuration) String() string { return Duration(d).String() }
