package request

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// TagURI begins the URI SAN of a tag, kuma://key/value. A certificate with tags has such a
// URI for each tag, in addition to the SPIFFE ID.
const TagURI = "kuma://"

// ClientTags returns the tags of a client whose certificate has the given URI SANs (SPEC
// 11.5). Keys may have slashes, but values may not. If a key has several values, ok is
// false, because a condition on it can hold for each value.
func ClientTags(uris ...string) (_ resource.Tags, ok bool) {
	tags := map[string]string{}
	for _, uri := range uris {
		rest, isTag := strings.CutPrefix(uri, TagURI)
		slash := strings.LastIndexByte(rest, '/')
		if !isTag || slash <= 0 || slash == len(rest)-1 {
			continue
		}
		key, value := rest[:slash], rest[slash+1:]
		if before, known := tags[key]; known && before != value {
			return nil, false
		}
		tags[key] = value
	}
	return resource.NewTags(tags), true
}
