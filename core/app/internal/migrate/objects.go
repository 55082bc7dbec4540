package migrate

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// dnsName is a name that Kuma 3 accepts (RFC 1035).
var dnsName = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`)

// name finds a name that Kuma 3 rejects.
func (r *rewriter) name(m *resource.Meta) {
	if !dnsName.MatchString(m.DisplayName()) {
		r.find(diag.ValueNotInKuma3, m.Pos, "name", "use up to 63 lower-case letters, digits and dashes, with a letter first", "Kuma 3 rejects the name %q", m.DisplayName())
	}
}

// dataplane edits the document of a dataplane: its tags become labels, and the tag of the
// protocol becomes the protocol of the inbound. The tags stay, so that Kuma 2 reads the
// document as before.
func (r *rewriter) dataplane(dp *resource.Dataplane) {
	d := r.document(&dp.Meta)
	if d == nil {
		return
	}
	r.name(&dp.Meta)
	networking := mapping(d.spec(), "networking")
	if labels := r.tagsAsLabels(dp); len(labels) > 0 {
		written := d.labels()
		for _, key := range slices.Sorted(maps.Keys(labels)) {
			written[key] = labels[key]
		}
		d.edited("labels")
	}
	tagged := dp.Gateway != nil && len(dp.Gateway.Tags) > 0
	for i := range dp.Inbounds {
		tagged = tagged || len(dp.Inbounds[i].Tags) > 0
		r.inbound(d, dp, i, mapping(networking, "inbound", i))
	}
	if tagged && d.universal() {
		r.find(diag.TagsNotInKuma3, dp.Pos, "networking", hintOf(slices.Contains(d.edits, "labels"), "give the dataplane the labels by which policies select it"),
			"Kuma 3 has no tags: policies select the dataplane by its labels")
	}
	for i := range dp.Outbounds {
		if dp.Outbounds[i].Backend == nil {
			r.find(diag.TagsNotInKuma3, dp.Pos, fmt.Sprintf("networking.outbound[%d].tags", i), "write a backendRef with the labels of a MeshService",
				"Kuma 3 makes no listener for an outbound with tags")
		}
	}
	if text(networking, "gateway", "type") == "BUILTIN" {
		r.find(diag.KindNotInKuma3, dp.Pos, "networking.gateway.type", "use a delegated gateway", "Kuma 3 has no builtin gateways: the document is not read at all")
	}
	for _, field := range []struct {
		parent       tree
		path, name   string
		effect, hint string
	}{
		{networking, "networking", "advertisedAddress", "other dataplanes use the address", "make the address reachable"},
		{d.spec(), "", "probes", "probes are dropped", "use the application probe proxy"},
		{mapping(networking, "transparentProxying"), "networking.transparentProxying", "reachableServices", "all destinations are reachable", "write reachableBackends"},
	} {
		if field.parent[field.name] != nil {
			path := field.name
			if field.path != "" {
				path = field.path + "." + path
			}
			r.find(diag.FieldNotInKuma3, dp.Pos, path, field.hint, "Kuma 3 has no such field: %s", field.effect)
		}
	}
}

// inbound edits an inbound of the document of a dataplane; written is nil if the document does
// not have it.
func (r *rewriter) inbound(d *document, dp *resource.Dataplane, i int, written tree) {
	in := &dp.Inbounds[i]
	protocol := in.Tags.Value(resource.ProtocolTag)
	if written != nil && in.Protocol == "" && protocol != "" {
		path := fmt.Sprintf("networking.inbound[%d].protocol", i)
		if d.universal() {
			written["protocol"] = protocol
			d.edited(path)
		}
		r.find(diag.TagsNotInKuma3, dp.Pos, path, hintOf(d.universal(), "the control plane takes it from the port of the Service"),
			"Kuma 3 reads no tag %s: the inbound becomes TCP", resource.ProtocolTag)
	}
	if protocol == "kafka" || in.Protocol == "kafka" {
		r.find(diag.ValueNotInKuma3, dp.Pos, fmt.Sprintf("networking.inbound[%d]", i), "use tcp", "Kuma 3 has no protocol kafka")
	}
}

// mesh finds the fields of a Mesh that Kuma 3 does not read.
func (r *rewriter) mesh(m *resource.Mesh) {
	d := r.document(&m.Meta)
	if d == nil {
		return
	}
	r.name(&m.Meta)
	if mtls := mapping(d.spec(), "mtls"); text(mtls, "enabledBackend") != "" {
		without := 0
		for _, dp := range r.view.Dataplanes(m.Name) {
			if id, err := r.view.Identities(m.Name).IdentityOf(dp); err != nil || id == nil {
				without++
			}
		}
		if without > 0 || len(r.view.Dataplanes(m.Name)) == 0 {
			r.find(diag.MTLSNotInKuma3, m.Pos, "mtls", "write a MeshIdentity that selects every dataplane, and a MeshTrust, first",
				"Kuma 3 reads no mtls: without a MeshIdentity %s plain text, and no permission applies", serve(without))
		} else {
			r.find(diag.FieldNotInKuma3, m.Pos, "mtls", "remove it when every control plane runs Kuma 3", "Kuma 3 reads no mtls; each dataplane has an identity by a MeshIdentity")
		}
	}
	if passthrough, ok := fieldAt(d.spec(), "networking", "outbound", "passthrough").(bool); ok && !passthrough {
		r.find(diag.FieldNotInKuma3, m.Pos, "networking.outbound.passthrough", "write a MeshPassthrough with passthroughMode None",
			"Kuma 3 has no such field: connections to unknown addresses pass")
	}
	for _, field := range []struct{ name, hint string }{
		{"routing", "write MeshLoadBalancingStrategy policies"}, {"logging", "write MeshAccessLog policies"}, {"tracing", "write MeshTrace policies"},
		{"metrics", "write MeshMetric policies"}, {"constraints", "remove it"}, {"meshServices", "remove it: the mode is Exclusive"},
	} {
		if d.spec()[field.name] != nil {
			r.find(diag.FieldNotInKuma3, m.Pos, field.name, field.hint, "Kuma 3 has no such field of a Mesh")
		}
	}
}

// serve returns how many dataplanes serve something, with the verb.
func serve(dataplanes int) string {
	if dataplanes == 1 {
		return "1 dataplane serves"
	}
	return diag.Count(dataplanes, "dataplane") + " serve"
}

// object edits the document of an object such as a MeshService.
func (r *rewriter) object(o resource.Object) {
	meta := o.Identity()
	d := r.document(meta)
	if d == nil {
		return
	}
	switch o := o.(type) {
	case *resource.MeshService:
		r.name(meta)
		r.service(o, d)
	case *resource.MeshExternalService:
		r.name(meta)
		r.external(d)
	}
	switch meta.Kind {
	case "ZoneIngress", "ZoneEgress":
		r.find(diag.KindNotInKuma3, meta.Pos, "", "write a Dataplane with listeners of type "+meta.Kind+", and a MeshZoneAddress", "Kuma 3 has no %s: other zones are not reachable by it", meta.Kind)
	case "MeshGateway", "MeshGatewayRoute", "MeshGatewayInstance":
		r.find(diag.KindNotInKuma3, meta.Pos, "", "use a delegated gateway", "Kuma 3 has no %s", meta.Kind)
	}
}

// service rewrites a selector by tags to one by labels, if it selects the same dataplanes.
func (r *rewriter) service(s *resource.MeshService, d *document) {
	selector := mapping(d.spec(), "selector")
	if tags := mapping(selector, "dataplaneTags"); tags != nil {
		labels := asTags(tags)
		same := true
		for _, dp := range r.view.Dataplanes(s.Mesh) {
			same = same && hasTags(dp, labels) == r.labels(dp).Contains(labels)
		}
		if same {
			delete(selector, "dataplaneTags")
			selector["dataplaneLabels"] = tree{"matchLabels": tags}
			d.edited("spec.selector.dataplaneTags")
		}
		r.find(diag.TagsNotInKuma3, s.Pos, "spec.selector.dataplaneTags", hintOf(same, "write dataplaneLabels with labels of the dataplanes"), "Kuma 3 reads no dataplaneTags: the service has no endpoints")
	}
	for i, id := range list(d.spec(), "identities") {
		if text(id, "type") == "ServiceTag" {
			r.find(diag.FieldNotInKuma3, s.Pos, fmt.Sprintf("spec.identities[%d]", i), "the control plane writes identities of type SpiffeID", "Kuma 3 has no identities of type ServiceTag")
		}
	}
	for i, port := range list(d.spec(), "ports") {
		if text(port, "appProtocol") == "kafka" {
			r.find(diag.ValueNotInKuma3, s.Pos, fmt.Sprintf("spec.ports[%d].appProtocol", i), "use tcp", "Kuma 3 has no protocol kafka")
		}
	}
}

// hasTags reports whether an inbound or the gateway of a dataplane has tags.
func hasTags(dp *resource.Dataplane, tags resource.Tags) bool {
	return dp.Gateway != nil && dp.Gateway.Tags.Contains(tags) ||
		slices.ContainsFunc(dp.Inbounds, func(in resource.Inbound) bool { return in.Tags.Contains(tags) })
}

// external rewrites the certificates of a MeshExternalService to the form of Kuma 3.
func (r *rewriter) external(d *document) {
	verification := mapping(d.spec(), "tls", "verification")
	for _, name := range []string{"caCert", "clientCert", "clientKey"} {
		certificate := mapping(verification, name)
		var next tree
		switch {
		case text(certificate, "secret") != "":
			next = tree{"type": "Secret", "secretRef": tree{"kind": "Secret", "name": text(certificate, "secret")}}
		case text(certificate, "inlineString") != "":
			next = tree{"type": "InsecureInline", "insecureInline": tree{"value": text(certificate, "inlineString")}}
		case text(certificate, "inline") != "":
			if value, err := base64.StdEncoding.DecodeString(text(certificate, "inline")); err == nil {
				next = tree{"type": "InsecureInline", "insecureInline": tree{"value": string(value)}}
			}
		}
		if next == nil {
			continue
		}
		path := "spec.tls.verification." + name
		verification[name] = next
		d.edited(path)
		r.find(diag.FieldNotInKuma3, d.meta.Pos, path, rewritten, "Kuma 3 has another form of certificates: the service is rejected")
	}
}
