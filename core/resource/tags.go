package resource

import "github.com/meshmatch/meshmatch/core/internal/specs"

// The tags and labels with a special meaning.
const (
	ServiceTag     = "kuma.io/service"
	ProtocolTag    = "kuma.io/protocol"
	ServerFirstTag = "kuma.io/server-first"
	ZoneTag        = "kuma.io/zone"
	MeshLabel      = "kuma.io/mesh"
	EffectLabel    = "kuma.io/effect"
	// WeakensLabel marks a policy that may weaken the permissions of proxies (SPEC 11.5).
	WeakensLabel = "meshmatch.io/weakens-permissions"
	// ServiceAccountLabel contains the Kubernetes service account of a
	// dataplane.
	ServiceAccountLabel = "k8s.kuma.io/service-account"
)

// Tags is a set of tags or labels, sorted by key. The specs of objects also use it.
type Tags = specs.Tags

// Tag is a key with a value.
type Tag = specs.Tag

// AnyValue in a selector's tag means that the key is present.
const AnyValue = specs.AnyValue

// NewTags returns the tags of m.
func NewTags(m map[string]string) Tags { return specs.NewTags(m) }
