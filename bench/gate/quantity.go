package gate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/perf/benchunit"
)

var quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)([^0-9.]*)$`)

// A suffix scales a number; suffixes are in the order of error messages.
type suffix struct {
	text   string
	factor float64
}

var (
	timeSuffixes  = []suffix{{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}}
	bytesSuffixes = []suffix{{"", 1}, {"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}}
	countSuffixes = []suffix{{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}
	sizeSuffixes  = append(countSuffixes[:len(countSuffixes):len(countSuffixes)], suffix{"Ki", 1 << 10}, suffix{"Mi", 1 << 20}, suffix{"Gi", 1 << 30})
)

// parseLimit reads a limit of a unit: 150ns, 3ms or 0.8us for sec/op, 16KiB or
// 4096 for B/op, 1 or 10k for anything else. It returns the limit and the unit in
// the tidied form of benchunit: 150 ns/op is 1.5e-7 sec/op.
func parseLimit(text, unit string) (limit float64, tidied string, err error) {
	factor, tidied := benchunit.Tidy(1, unit)
	class := unitByName(tidied).Class
	suffixes := countSuffixes
	switch {
	case factor != 1:
		// ns/op or MB/op: the unit includes the scale.
		suffixes = []suffix{{"", 1}}
	case class == Time && strings.HasPrefix(tidied, "sec"):
		suffixes = timeSuffixes
	case class == Bytes:
		suffixes = bytesSuffixes
	}
	value, err := parseQuantity(text, suffixes)
	return value * factor, tidied, err
}

// parseQuantity reads a non-negative number with one of the suffixes.
func parseQuantity(text string, suffixes []suffix) (float64, error) {
	found := quantity.FindStringSubmatch(text)
	if found == nil {
		return 0, fmt.Errorf("%q is not a number of 0 or more", text)
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number: %w", text, err)
	}
	var known []string
	for _, s := range suffixes {
		if s.text == found[2] {
			return value * s.factor, nil
		}
		if s.text != "" {
			known = append(known, found[1]+s.text)
		}
	}
	switch {
	case found[2] == "":
		return 0, fmt.Errorf("%q has no unit; write %s", text, strings.Join(known, ", "))
	case len(known) == 0:
		return 0, fmt.Errorf("%q has a unit, but the rule's unit is another one; write %s, or the tidied unit (sec/op, B/op)", text, found[1])
	}
	return 0, fmt.Errorf("%q has an unknown unit %q; write %s", text, found[2], strings.Join(known, ", "))
}
