package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// unreachable warns of destinations to which no proxy connects (SPEC 17.4).
func (m *meshCheck) unreachable(destinations *destination.Directory) {
	if len(destinations.All()) == 0 {
		return
	}
	for _, o := range destinations.All() {
		if s, is := o.(*resource.MeshExternalService); is {
			if path, why := destinations.Unreachable(s); path != "" {
				m.warn(diag.Diagnostic{
					Code: diag.NoEndpoints, Pos: s.Pos, Path: path,
					What: fmt.Sprintf("%s, so %s has no endpoints and is answered with 503", why, s.Identity().Qualified()),
				})
			}
		}
	}
	if closed := m.closed(destinations); closed != nil {
		m.warn(*closed)
	}
	if m.view.Semantics().Zones().Proxied {
		m.unreachableZones(destinations)
	}
}

// closed returns the warning that no external service of the mesh has endpoints, or nil.
func (m *meshCheck) closed(destinations *destination.Directory) *diag.Diagnostic {
	reading, mesh := m.view.Semantics().Zones(), m.view.Mesh(m.mesh)
	field := reading.NoExternalServices(mesh)
	at := slices.IndexFunc(destinations.All(), func(o resource.Destination) bool {
		_, is := o.(*resource.MeshExternalService)
		return is
	})
	if field == "" || at < 0 {
		return nil
	}
	hint := "remove the field"
	if !reading.Proxied {
		hint += ": no zone egress is configured here"
	}
	return &diag.Diagnostic{
		Code: diag.NoEndpoints, Pos: mesh.Pos, Path: field,
		What: fmt.Sprintf("no proxy connects to a MeshExternalService of the mesh, such as %s: it is answered with 503", destinations.All()[at].Identity().Qualified()),
		Hint: hint,
	}
}

// zoneCheck finds what the clients of a mesh do not reach through zone proxies.
type zoneCheck struct {
	*meshCheck
	zones   *destination.Zones
	clients []string // the zones of dataplanes, sorted; "" if a dataplane has none
}

// unreachableZones warns of destinations that clients reach through zone proxies only, if
// there are none, or if the destination has no server name. Each zone has one warning.
func (m *meshCheck) unreachableZones(destinations *destination.Directory) {
	c := &zoneCheck{meshCheck: m, zones: m.zones()}
	for _, d := range m.dataplanes {
		if len(d.Inbounds) > 0 || d.Gateway != nil {
			c.clients = append(c.clients, enforce.ZoneOf(d))
		}
	}
	slices.Sort(c.clients)
	c.clients = slices.Compact(c.clients)
	warned := map[string]bool{} // by kind and zone
	add := func(o resource.Destination, zone, what, hint string) {
		if key := o.Identity().Kind + " " + zone; !warned[key] {
			warned[key] = true
			m.warn(diag.Diagnostic{Code: diag.NoEndpoints, Pos: o.Identity().Pos, What: what, Hint: hint})
		}
	}
	for _, o := range destinations.All() {
		switch o := o.(type) {
		case *resource.MeshService:
			if !slices.ContainsFunc(c.clients, func(client string) bool { return c.zones.IsRemote(o, client) }) {
				continue
			}
			if why, hint := c.missingIngress(o.Zone()); why != "" {
				add(o, o.Zone(), fmt.Sprintf("clients of other zones do not reach the MeshServices of the zone %s, because %s: %s has no endpoints for them and is answered with 503", o.Zone(), why, o.Identity().Qualified()), hint)
			}
			c.unnamed(o, o.Zone())
		case *resource.MeshExternalService:
			for _, client := range c.clients {
				if !destination.InZone(o, client) {
					continue
				}
				if why, hint := c.missingEgress(client); why != "" {
					add(o, client, fmt.Sprintf("dataplanes%s reach no MeshExternalService, because %s: %s has no endpoints for them and is answered with 503", zonePhrase(client), why, o.Identity().Qualified()), hint)
				}
			}
			c.unnamed(o, "")
		case *resource.MeshMultiZoneService:
			c.unnamed(o, "")
		}
	}
}

// zonePhrase returns " of the zone ZONE", or nothing for the empty zone.
func zonePhrase(zone string) string {
	if zone == "" {
		return ""
	}
	return " of the zone " + zone
}

// missingIngress returns why the MeshServices of a zone are not reached from other zones,
// and what to do; "" if they are.
func (c *zoneCheck) missingIngress(zone string) (why, hint string) {
	switch {
	case !c.zones.Identified():
		return "the mesh has no identities, and zone proxies accept TLS only", "write a MeshIdentity"
	case len(c.zones.Addresses(zone)) > 0:
		return "", ""
	case c.zones.ZoneIngressFallback:
		return "the zone has no MeshZoneAddress and no ZoneIngress with an advertised address", "write a MeshZoneAddress with the label " + resource.ZoneTag
	}
	return "the zone has no MeshZoneAddress", "write a MeshZoneAddress with the label " + resource.ZoneTag
}

// missingEgress returns why the dataplanes of a zone reach no external service, and what to
// do; "" if they reach them, or if the mesh forbids it.
func (c *zoneCheck) missingEgress(zone string) (why, hint string) {
	if len(c.zones.Egresses(zone)) > 0 || c.zones.NoExternalServices(c.view.Mesh(c.mesh)) != "" {
		return "", ""
	}
	where := cmp.Or(zonePhrase(zone), " of the mesh")
	why = fmt.Sprintf("proxies never connect to one themselves, and no dataplane%s has a listener of type ZoneEgress that is Ready", where)
	return why, "add networking.listeners to a dataplane with an identity"
}

// unnamed warns of the ports of a destination that have no server name.
func (c *zoneCheck) unnamed(o resource.Destination, zone string) {
	var ports []string
	for _, port := range o.Ports() {
		if _, named := c.zones.ServerName(o, port, zone); !named {
			ports = append(ports, port.SectionName())
		}
	}
	if len(ports) == 0 {
		return
	}
	c.warn(diag.Diagnostic{
		Code: diag.NoEndpoints, Pos: o.Identity().Pos,
		What: fmt.Sprintf("zone proxies do not recognize %s (%s), so clients that need one have no cluster for it: its mesh, zone, namespace, name and port do not make a server name (SNI)", o.Identity().Qualified(), strings.Join(ports, ", ")),
		Hint: "use DNS labels: at most 63 lower-case letters, digits and -",
	})
}

// zones returns how the proxies of the mesh reach other zones.
func (m *meshCheck) zones() *destination.Zones {
	from := destination.ZoneSources{
		Semantics: m.view.Semantics(), Mesh: m.view.Mesh(m.mesh), Identified: len(m.view.Identities(m.mesh).All()) > 0,
		Objects: m.view.Objects(m.mesh), Globals: m.view.Objects(""),
	}
	from.Proxies = lists.Filter(m.dataplanes, func(d *resource.Dataplane) bool { return len(d.Listeners) > 0 })
	return destination.NewZones(from)
}
