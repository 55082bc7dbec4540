package cli

import (
	"path"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// ofZones returns an error about files with a further hint where one resource is in two
// directories: these may be of two zones, which are two inputs (SPEC 17.2).
func ofZones(err error) error {
	invalid, is := err.(diag.Errors)
	if !is {
		return err
	}
	all := slices.Clone(invalid)
	for i := range all {
		d := &all[i]
		first, twice := strings.CutPrefix(d.Hint, "the first one is at ")
		if d.Code == diag.DuplicateResource && twice && path.Dir(first) != path.Dir(d.Pos.File) {
			d.Hint += "; if two zones have it, give the directory of one of them, and its name with --zone"
		}
	}
	return all
}
