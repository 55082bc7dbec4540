package find

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Selection selects resources by labels in the form key=value. For a dataplane, the
// tags of one of its inbounds, or of its gateway, are combined with its labels. An empty
// selection selects every resource.
type Selection []resource.Tag

// ParseSelection parses key=value[,key=value...]. The value may be *, for any value. The
// error is [ErrUsage].
func ParseSelection(text string) (Selection, error) {
	var s Selection
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || key == "" {
			return nil, Usagef("bad selector %q; write key=value[,key=value...]", text)
		}
		s = append(s, resource.Tag{Key: key, Value: strings.TrimPrefix(value, "=")})
	}
	return s, nil
}

// Selects reports whether each pair is in one of the sets.
func (s Selection) Selects(sets ...resource.Tags) bool {
	return !slices.ContainsFunc(s, func(pair resource.Tag) bool {
		return !slices.ContainsFunc(sets, func(tags resource.Tags) bool {
			value, present := tags.Get(pair.Key)
			return present && (value == pair.Value || pair.Value == resource.AnyValue)
		})
	})
}

// selectsDataplane reports whether the labels with the tags of one inbound, or of the
// gateway, have each pair.
func (s Selection) selectsDataplane(d *resource.Dataplane) bool {
	return s.Selects(d.Labels) || slices.ContainsFunc(ClientTags(d), func(tags resource.Tags) bool {
		return s.Selects(d.Labels, tags)
	})
}

// SelectDataplanes returns the dataplanes of a mesh that a selection selects, sorted by
// identity. If namespace is not nil, they must be in it. The error is [ErrNotFound] if
// there are none.
func SelectDataplanes(view *core.View, mesh string, s Selection, namespace *string) ([]*resource.Dataplane, error) {
	selected := lists.Filter(view.Dataplanes(mesh), func(d *resource.Dataplane) bool {
		return (namespace == nil || *namespace == d.Namespace) && s.selectsDataplane(d)
	})
	if len(selected) == 0 {
		return nil, NotFoundf("the selector selects no dataplane of mesh %q", mesh)
	}
	return selected, nil
}

// ServicePrefix distinguishes the name of a service from the name of a
// dataplane.
const ServicePrefix = "svc/"
