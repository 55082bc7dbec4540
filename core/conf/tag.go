package conf

import "github.com/meshmatch/meshmatch/core/diag"

const (
	tagKeyHint   = "a tag's key has letters, digits, '.', '_', ':', '/' and '-'"
	tagValueHint = "a tag's value has letters, digits, '.', '_', ':' and '-'"
)

// ValidateTag checks a tag of an inbound, outbound or gateway. tags is the place of the
// mapping that contains it (SPEC 1.2).
func ValidateTag(tags *diag.At, key, value string) {
	if !validTagKey(key) {
		reportTagKey(tags.Name(key), key)
	}
	if !validTagValue(value) {
		tags.Field(key).Errorf(diag.BadTag, tagValueHint, "bad tag value %q", value)
	}
}

// ValidateSelector checks tags of a selector: the value * requires only the key.
func ValidateSelector(at *diag.At, tags map[string]string) {
	for key, value := range tags {
		ValidateSelectorTag(at, key, value)
	}
}

// ValidateSelectorTag checks a tag of a selector. tags is the place of the mapping that
// contains it.
func ValidateSelectorTag(tags *diag.At, key, value string) {
	if !validTagKey(key) {
		reportTagKey(tags.Name(key), key)
	}
	if value != "*" && !validTagValue(value) {
		tags.Field(key).Errorf(diag.BadTag, tagValueHint+", or is * for any", "bad tag value %q", value)
	}
}

// ValidateTagKey checks the key of a tag.
func ValidateTagKey(at *diag.At, key string) {
	if !validTagKey(key) {
		reportTagKey(at, key)
	}
}

func reportTagKey(at *diag.At, key string) { at.Errorf(diag.BadTag, tagKeyHint, "bad tag key %q", key) }

// ValidateService checks the name of a service, which is the value of a tag.
func ValidateService(at *diag.At, name string) {
	if !validTagValue(name) {
		at.Errorf(diag.BadTag, "a service name has letters, digits, '.', '_', ':' and '-'", "bad service name %q", name)
	}
}

func validTagKey(s string) bool { return validTagText(s, &tagKeyBytes) }

func validTagValue(s string) bool { return validTagText(s, &tagValueBytes) }

var tagKeyBytes, tagValueBytes = tagBytes("._:/-"), tagBytes("._:-")

// tagBytes returns the bytes that are allowed in a key or value: letters, digits and
// punctuation.
func tagBytes(punctuation string) (valid [256]bool) {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, b := range []byte(letters + "0123456789" + punctuation) {
		valid[b] = true
	}
	return valid
}

func validTagText(s string, valid *[256]bool) bool {
	for i := range len(s) {
		if !valid[s[i]] {
			return false
		}
	}
	return s != ""
}
