package meshfaultinjection

import (
	"regexp"
	"strconv"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Bandwidth is a number of bits per second with a unit: 50kbps, 10 Mbps,
// 1Gbps.
//
//confgen:openapi {"pattern": "^[1-9][0-9]{0,8} ?[kMG]bps$"}
type Bandwidth string

var bandwidth = regexp.MustCompile(`^([1-9][0-9]{0,8}) ?([kMG])bps$`)

// Validate checks number and unit.
func (b Bandwidth) Validate(at *diag.At) {
	if !bandwidth.MatchString(string(b)) {
		at.Errorf(diag.BadValue, "write a whole number with kbps, Mbps or Gbps, such as 50kbps", "bad bandwidth %q", string(b))
	}
}

// KilobitsPerSecond returns the number in units of 1000 bits per second, or zero if
// the bandwidth is not valid.
func (b Bandwidth) KilobitsPerSecond() uint64 {
	parts := bandwidth.FindStringSubmatch(string(b))
	if parts == nil {
		return 0
	}
	n, _ := strconv.ParseUint(parts[1], 10, 64) // the expression matched digits
	switch parts[2] {
	case "M":
		n *= 1000
	case "G":
		n *= 1000 * 1000
	}
	return n
}
