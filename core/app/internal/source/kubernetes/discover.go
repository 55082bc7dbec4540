package kubernetes

import (
	"context"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// served is a kind that the API server serves.
type served struct {
	groupKind
	// path is the path of the collection of all objects, such as
	// /apis/kuma.io/v1alpha1/meshtimeouts.
	path string
	// core is the apiVersion of a kind of Kubernetes itself, whose objects in lists have
	// none.
	core string
	// selector is a field selector; empty: all objects.
	selector string
	// has reports whether an object is read.
	has func(name string) bool
}

// discover returns the kinds that the API server serves.
func (s *Store) discover(ctx context.Context) ([]served, error) {
	var groups struct {
		Groups []struct {
			Name             string `json:"name"`
			PreferredVersion struct {
				GroupVersion string `json:"groupVersion"`
			} `json:"preferredVersion"`
		} `json:"groups"`
	}
	if err := s.get(ctx, "/apis", &groups); err != nil {
		return nil, err
	}
	all := []served{{
		groupKind: groupKind{kind: "ConfigMap"}, path: "/api/v1/namespaces/" + s.system + "/configmaps", core: "v1",
		has: func(name string) bool {
			return strings.HasPrefix(name, "kuma-") && strings.HasSuffix(name, "-dns-vips")
		},
	}}
	if s.secrets {
		all = append(all, served{
			groupKind: groupKind{kind: resource.SecretKind}, path: "/api/v1/namespaces/" + s.system + "/secrets", core: "v1",
			selector: "type=" + resource.SecretType, has: func(string) bool { return true },
		})
	}
	for _, group := range groups.Groups {
		if !s.readsGroup(group.Name) {
			continue
		}
		list, err := s.resources(ctx, group.Name, group.PreferredVersion.GroupVersion)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func (s *Store) readsGroup(group string) bool {
	for kind := range s.kinds {
		if kind.group == group {
			return true
		}
	}
	return false
}

// resources returns the kinds of a group that are read and can be watched.
func (s *Store) resources(ctx context.Context, group, version string) ([]served, error) {
	var list struct {
		Resources []struct {
			Name  string   `json:"name"` // the plural, or PLURAL/SUBRESOURCE
			Kind  string   `json:"kind"`
			Verbs []string `json:"verbs"`
		} `json:"resources"`
	}
	if err := s.get(ctx, "/apis/"+version, &list); err != nil {
		return nil, err
	}
	var all []served
	for _, r := range list.Resources {
		kind := groupKind{group, r.Kind}
		if s.kinds[kind] && !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch") {
			all = append(all, served{groupKind: kind, path: "/apis/" + version + "/" + r.Name, has: func(string) bool { return true }})
		}
	}
	return all, nil
}
