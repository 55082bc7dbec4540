package etcd

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Key returns the key of a resource without the prefix: KIND/MESH/NAMESPACE/NAME. Each part
// is percent-encoded. An empty part is -, and a part that is - is %2D.
func Key(id resource.ID) string {
	parts := []string{id.Kind, id.Mesh, id.Namespace, id.Name}
	for i, part := range parts {
		switch part {
		case "":
			parts[i] = "-"
		case "-":
			parts[i] = "%2D"
		default:
			parts[i] = url.PathEscape(part)
		}
	}
	return strings.Join(parts, "/")
}

// parseKey returns the identity of a key without the prefix. The flaw is why it is not the
// key of a resource; the identity then has at most a kind.
func parseKey(key string) (id resource.ID, flaw string) {
	parts := strings.Split(key, "/")
	if len(parts) != 4 {
		return resource.ID{}, "a key has the four parts KIND/MESH/NAMESPACE/NAME"
	}
	for i, part := range parts {
		if part == "-" {
			parts[i] = ""
			continue
		}
		decoded, err := url.PathUnescape(part)
		if err != nil || decoded == "" {
			return resource.ID{}, fmt.Sprintf("the part %q of the key is not percent-encoded text; an empty part is -", part)
		}
		parts[i] = decoded
	}
	id = resource.ID{Kind: parts[0], Mesh: parts[1], Namespace: parts[2], Name: parts[3]}
	if id.Kind == "" || id.Name == "" {
		return resource.ID{Kind: id.Kind}, "a key has a kind and a name"
	}
	if canonical := Key(id); canonical != key {
		return resource.ID{Kind: id.Kind}, fmt.Sprintf("the key of this resource is written %s", canonical)
	}
	return id, ""
}

// The keys of writes in several transactions, without the prefix. No kind has the name -.
const (
	applyKey = "-/apply"
	lastKey  = "-/last"
)

// isOwn reports whether a key, without the prefix, belongs to the store and not to a resource.
func isOwn(key string) bool { return strings.HasPrefix(key, "-/") }

// position returns the name of a version of a key in positions.
func (s *Store) position(key string, revision int64) string {
	return fmt.Sprintf("etcd://%s/%s@%d", s.address.Prefix, key, revision)
}
