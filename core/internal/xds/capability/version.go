package capability

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Version is a release of Envoy.
type Version struct{ Major, Minor, Patch uint32 }

// Releases are the minor releases that are supported, in ascending order. The first one is
// known by its API alone.
var Releases = []string{"1.35", "1.36", "1.37", "1.38", "1.39", "1.40"}

var (
	// Oldest is the oldest release that is served.
	Oldest = Version{1, 35, 0}
	// Unknown is the release that a client without a version is taken for: the oldest one that
	// was tried.
	Unknown = Version{1, 36, 0}
	// Newest is the newest release that was tried. Newer ones get what it gets.
	Newest = Version{1, 40, 0}
)

// ErrVersion indicates that a text is not the version of a release.
var ErrVersion = errors.New("not a version of Envoy, such as 1.36.4")

// ParseVersion reads a version such as "1.36.4" or "1.36", which is the first of its minor
// release. A build on the way to a release has a label, such as "1.36.10-dev" or "1.36.10-fips-dev". It is
// the release before, because it may lack what the release brings. Other text after a hyphen, as in
// "1.36.4-fips", is ignored.
func ParseVersion(text string) (v Version, err error) {
	rest, label, labelled := strings.Cut(text, "-")
	more := true
	for i, into := range [...]*uint32{&v.Major, &v.Minor, &v.Patch} {
		if !more && i == 2 {
			break
		}
		var part string
		part, rest, more = strings.Cut(rest, ".")
		n, err := strconv.ParseUint(part, 10, 16)
		if err != nil {
			return v, fmt.Errorf("%q is %w", text, ErrVersion)
		}
		*into = uint32(n)
	}
	if more {
		return v, fmt.Errorf("%q is %w", text, ErrVersion)
	}
	if labelled && unreleased.MatchString(label) {
		v = v.before()
	}
	return v, nil
}

// unreleased are the words in labels of builds that are made before a release. A vendor may have
// words of its own before them, as in "fips-dev".
var unreleased = regexp.MustCompile(`(?i)(^|[^a-z])(dev|alpha|beta|rc|pre|snapshot|nightly|canary|main|master|head|git|wip)`)

// before returns the release before v, which a build on the way to v has in it.
func (v Version) before() Version {
	switch {
	case v.Patch > 0:
		v.Patch--
	case v.Minor > 0:
		v.Minor--
	}
	return v
}

// String returns such as "1.36.4".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

// Compare orders versions.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch))
}

func (v Version) sameMinor(o Version) bool { return v.Major == o.Major && v.Minor == o.Minor }
