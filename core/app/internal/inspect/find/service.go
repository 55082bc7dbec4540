package find

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Service is the dataplanes of a service and their inbounds that serve it (SPEC 10):
// those with the tag kuma.io/service or, if there are none, those that the MeshServices
// with the name select. A gateway with the tag is a dataplane of the service without an
// inbound.
type Service struct {
	Name         string
	Dataplanes   []*resource.Dataplane   // sorted by identity
	meshServices []*resource.MeshService // none: the service is a tag
}

// NewService returns the service with a name of a mesh. A MeshService is also found by its
// display name, and by NAMESPACE/NAME. If namespace is not nil, the dataplanes must be in
// it. The error is [ErrNotFound] if the service has no dataplanes.
func NewService(view *core.View, mesh, name string, namespace *string) (*Service, error) {
	s := &Service{Name: name}
	var known []string
	var inNamespace []*resource.Dataplane
	for _, d := range view.Dataplanes(mesh) {
		if namespace != nil && *namespace != d.Namespace {
			continue
		}
		inNamespace = append(inNamespace, d)
		tagged := false
		for _, tags := range ClientTags(d) {
			service := tags.Value(resource.ServiceTag)
			known, tagged = append(known, service), tagged || service == name
		}
		if tagged {
			s.Dataplanes = append(s.Dataplanes, d)
		}
	}
	if len(s.Dataplanes) > 0 {
		return s, nil
	}
	all := meshServices(view, mesh)
	for _, service := range all {
		known = append(known, service.DisplayName())
		if isNamed(service, name) {
			s.meshServices = append(s.meshServices, service)
		}
	}
	selectors := destination.NewSelectors(view.Semantics(), s.meshServices)
	s.Dataplanes = lists.Filter(inNamespace, func(d *resource.Dataplane) bool { return len(selectors.ServicesOf(d)) > 0 })
	switch {
	case len(s.Dataplanes) > 0:
		return s, nil
	case len(s.meshServices) > 0:
		return nil, NotFoundf("the MeshService %q selects no dataplane", name)
	}
	what := "no dataplane has an inbound of service \"" + name + "\""
	if len(all) > 0 {
		what += ", and no MeshService has this name"
	}
	slices.Sort(known)
	return nil, NotFound(what, name, slices.Compact(known))
}

// IsTag reports whether the service is a tag, and not MeshServices.
func (s *Service) IsTag() bool { return len(s.meshServices) == 0 }

// isNamed reports whether a MeshService has a name, a display name, or one of these after
// its namespace.
func isNamed(s *resource.MeshService, name string) bool {
	qualified, namespace, err := Name{Name: name}.Split(resource.MeshServiceKind)
	if err != nil || namespace != nil && *namespace != s.Namespace && *namespace != s.HomeNamespace() {
		return false
	}
	return qualified == s.Name || qualified == s.DisplayName()
}

func meshServices(view *core.View, mesh string) []*resource.MeshService {
	return resource.ObjectsOf[*resource.MeshService](view.Objects(mesh))
}

// Inbounds returns the indexes of the inbounds of one of the dataplanes that have the listeners
// of those that serve it, sorted.
func (s *Service) Inbounds(d *resource.Dataplane) []int {
	var of []int
	for i := range d.Inbounds {
		if s.servedBy(&d.Inbounds[i]) {
			of = append(of, d.ListenerOf(i))
		}
	}
	slices.Sort(of)
	return slices.Compact(of)
}

func (s *Service) servedBy(in *resource.Inbound) bool {
	if s.IsTag() {
		return in.Tags.Value(resource.ServiceTag) == s.Name
	}
	return slices.ContainsFunc(s.meshServices, func(service *resource.MeshService) bool { return serves(in, service) })
}

// serves reports whether an inbound of a dataplane that a MeshService selects serves one
// of its ports (SPEC 17.4).
func serves(in *resource.Inbound, service *resource.MeshService) bool {
	return slices.ContainsFunc(service.Spec.Ports, func(port specs.ServicePort) bool {
		target := port.Target()
		return target.Number == 0 && target.Name == in.Name || target.Number != 0 && target.Number == in.Port
	})
}

// Named returns the indexes of the inbounds of the service with a name, as [Inbound] finds
// them. The error is [ErrNotFound].
func (s *Service) Named(d *resource.Dataplane, name string) ([]int, error) {
	var known []string
	var byName, byNumber []int
	for _, i := range s.Inbounds(d) {
		section := d.Inbounds[i].SectionName()
		known = append(known, section)
		switch {
		case name == section || name == d.KRI(section) || name == inboundAddress(d, i):
			byName = append(byName, i)
		case name == words.Port(d.Inbounds[i].Port):
			byNumber = append(byNumber, i)
		}
	}
	switch {
	case name == "" && len(known) == 1:
		return s.Inbounds(d), nil
	case name == "" && len(known) > 1:
		return nil, Usagef("service %s has %d inbounds of %s; give one of them: %s", s.Name, len(known), d.Name, strings.Join(known, ", "))
	case len(byName) > 0:
		return byName, nil
	case len(byNumber) > 0:
		return byNumber, nil
	}
	return nil, NotFoundf("%s has no inbound %q of service %q; it has %s", d.Name, name, s.Name, words.OrNone(known))
}

// ServiceNames returns the names for [NewService] of the services of a mesh that have
// dataplanes, sorted.
func ServiceNames(view *core.View, mesh string) []string {
	selectors := destination.NewSelectors(view.Semantics(), meshServices(view, mesh))
	names := map[string]bool{}
	for _, d := range view.Dataplanes(mesh) {
		for _, tags := range ClientTags(d) {
			names[tags.Value(resource.ServiceTag)] = true
		}
		for _, service := range selectors.ServicesOf(d) {
			names[service.DisplayName()] = true
		}
	}
	delete(names, "")
	return slices.Sorted(maps.Keys(names))
}

// Services finds the names of the services of inbounds.
type Services struct{ selectors *destination.Selectors }

// NewServices returns the services of a mesh.
func NewServices(view *core.View, mesh string) *Services {
	return &Services{destination.NewSelectors(view.Semantics(), meshServices(view, mesh))}
}

// NameOf returns the name of the service of an inbound, given by its index: the tag
// kuma.io/service, else the first display name of the MeshServices that it serves, else the
// label kuma.io/workload, else "".
func (s *Services) NameOf(d *resource.Dataplane, inbound int) string {
	in := &d.Inbounds[inbound]
	if service := in.Tags.Value(resource.ServiceTag); service != "" {
		return service
	}
	name := ""
	for _, service := range s.selectors.ServicesOf(d) {
		if serves(in, service) && (name == "" || service.DisplayName() < name) {
			name = service.DisplayName()
		}
	}
	return cmp.Or(name, d.Labels.Value(resource.WorkloadLabel))
}
