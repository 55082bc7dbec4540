package cli

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/resource"
)

func newExport(g *globals) *cobra.Command {
	return withHelp("export", &cobra.Command{
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			g.keepSources = true
			set, err := g.read(c, g.files)
			if err != nil {
				return err
			}
			list, err := inspect.NewResources(set, inspect.ResourceQuery{Mesh: g.mesh})
			if err != nil {
				return err
			}
			exported := list[:0]
			for _, r := range list {
				if r.Kind == resource.SecretKind || g.zone != "" && r.Zone() != "" && r.Zone() != g.zone {
					continue
				}
				if r.Source, err = withoutCounters(r.Source); err != nil {
					return err
				}
				exported = append(exported, r)
			}
			return g.printSources(c, exported)
		},
	})
}

// counters are the fields of metadata that an API server or a client writes and no answer
// depends on.
var counters = []string{"uid", "resourceVersion", "generation", "managedFields", "selfLink", "ownerReferences", "finalizers"}

// lastApplied is a copy of the document that kubectl keeps.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// withoutCounters returns a document without what changes although the resource does not. The
// time of its creation stays: some references find the oldest.
func withoutCounters(source json.RawMessage) (json.RawMessage, error) {
	var document map[string]json.RawMessage
	if err := json.Unmarshal(source, &document); err != nil {
		return nil, err
	}
	delete(document, "modificationTime")
	if text, has := document["metadata"]; has {
		var metadata map[string]json.RawMessage
		if err := json.Unmarshal(text, &metadata); err != nil {
			return nil, err
		}
		for _, field := range counters {
			delete(metadata, field)
		}
		if err := withoutLastApplied(metadata); err != nil {
			return nil, err
		}
		var err error
		if document["metadata"], err = json.Marshal(metadata); err != nil {
			return nil, err
		}
	}
	return json.Marshal(document)
}

// withoutLastApplied removes the annotation, and the annotations if it is their only one.
func withoutLastApplied(metadata map[string]json.RawMessage) error {
	if !strings.Contains(string(metadata["annotations"]), lastApplied) {
		return nil
	}
	var annotations map[string]string
	if err := json.Unmarshal(metadata["annotations"], &annotations); err != nil {
		return err
	}
	delete(annotations, lastApplied)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
		return nil
	}
	text, err := json.Marshal(annotations)
	metadata["annotations"] = text
	return err
}
