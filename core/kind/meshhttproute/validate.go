package meshhttproute

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// ValidatePlace reports host names in a policy that does not select a gateway: a sidecar
// determines the service before it reads the host.
func (c *Conf) ValidatePlace(at *diag.At, top *resource.TargetRef) {
	if c.Hostnames != nil && top.Kind != resource.TargetMeshGateway {
		at.Field("hostnames").Errorf(diag.FieldNotAllowed, "write targetRef: {kind: MeshGateway, name: ...}, or remove it", "only a policy for a MeshGateway has host names")
	}
	for i := range c.Rules {
		if rule := &c.Rules[i].Default; top.Kind == resource.TargetMeshGateway && len(rule.BackendRefs) == 0 && !rule.redirects() {
			at.Field("rules").Index(i).Field("default").Field("backendRefs").If(diag.AsKuma).
				Errorf(diag.EmptyValue, "give a backend, or a filter RequestRedirect", "a rule for a MeshGateway must have a backend")
		}
	}
}

// Validate checks that there is a match, and that not too many headers are changed. A
// filter may replace a prefix only if every match has a prefix.
func (r *Rule) Validate(at *diag.At) {
	if len(r.Matches) == 0 {
		at.Field("matches").Errorf(diag.EmptyValue, "write {} for a match that holds for every request", "must not be empty")
	}
	requests, responses := 0, 0
	for i := range r.Default.Filters {
		f := &r.Default.Filters[i]
		requests += f.RequestHeaderModifier.added()
		responses += f.ResponseHeaderModifier.added()
	}
	if n := max(requests, responses); n > conf.MaxHeaders {
		at.Field("default").Field("filters").Errorf(diag.OutOfRange, "", "change %d headers; the limit of Envoy is %d", n, conf.MaxHeaders)
	}
	if !slices.ContainsFunc(r.Matches, withoutPrefix) {
		return
	}
	for i := range r.Default.Filters {
		if arm := r.Default.Filters[i].prefixRewrite(); arm != "" {
			at.Field("default").Field("filters").Index(i).Field(arm).Field("path").Field("replacePrefixMatch").
				Errorf(diag.BadPath, "use ReplaceFullPath", "every match of the rule must have a path of type %q", PathPrefix)
		}
	}
}

// redirects reports whether a filter answers every request with a redirect.
func (c *RuleConf) redirects() bool {
	return slices.ContainsFunc(c.Filters, func(f Filter) bool { return f.Type == RequestRedirectType })
}

func withoutPrefix(m Match) bool {
	return m.Path == nil || m.Path.Type == Exact || m.Path.Type == RegularExpression
}
