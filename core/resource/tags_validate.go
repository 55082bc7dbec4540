package resource

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// ValidateTags checks the tags of an inbound, outbound or gateway.
func ValidateTags(at *diag.At, tags Tags) {
	for i, tag := range tags {
		if i > 0 && tags[i-1].Key >= tag.Key {
			at.Errorf(diag.DuplicateEntry, "make them with resource.NewTags", "are not sorted by key, or have %q twice", tag.Key)
		}
		conf.ValidateTag(at, tag.Key, tag.Value)
	}
}

// ValidateSelector checks the tags of a selector, whose values may be *.
func ValidateSelector(at *diag.At, tags Tags) {
	for _, tag := range tags {
		conf.ValidateSelectorTag(at, tag.Key, tag.Value)
	}
}
