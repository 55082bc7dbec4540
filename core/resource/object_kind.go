package resource

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// The kinds of objects (SPEC 17.2).
const (
	MeshServiceKind              = "MeshService"
	MeshExternalServiceKind      = "MeshExternalService"
	MeshMultiZoneServiceKind     = "MeshMultiZoneService"
	HostnameGeneratorKind        = "HostnameGenerator"
	MeshZoneAddressKind          = "MeshZoneAddress"
	MeshOpenTelemetryBackendKind = "MeshOpenTelemetryBackend"
	WorkloadKind                 = "Workload"
	MeshGatewayKind              = "MeshGateway"
	MeshGatewayRouteKind         = "MeshGatewayRoute"
	ZoneKind                     = "Zone"
	ZoneIngressKind              = "ZoneIngress"
	ZoneEgressKind               = "ZoneEgress"
	// ConfigKind is the kind of [VirtualAddresses].
	ConfigKind       = "Config"
	AccessTestKind   = "AccessTest"
	SecretKind       = "Secret"
	MeshIdentityKind = "MeshIdentity"
	MeshTrustKind    = "MeshTrust"
)

// objectKind describes the documents of one kind of objects.
type objectKind struct {
	name, short string
	make        func() Object
	global      bool // belongs to no mesh
	flat        bool // universal documents have the fields of the spec at the top level
	optional    bool // the spec may be absent
	ignored     bool // no answer depends on objects of the kind
	// shapesProxies is set if the configuration of proxies depends on objects of the kind in
	// another way than by a destination.
	shapesProxies bool
}

// objectKinds contains the kinds of objects by name. It is not changed.
var objectKinds = kindsByName(
	objectKind{name: MeshServiceKind, short: "msvc", make: func() Object { return new(MeshService) }},
	objectKind{name: MeshExternalServiceKind, short: "extsvc", make: func() Object { return new(MeshExternalService) }},
	objectKind{name: MeshMultiZoneServiceKind, short: "mzsvc", make: func() Object { return new(MeshMultiZoneService) }},
	objectKind{name: HostnameGeneratorKind, short: "hg", make: func() Object { return new(ObjectOf[specs.HostnameGenerator]) }, global: true},
	objectKind{name: MeshZoneAddressKind, short: "mza", make: func() Object { return new(ObjectOf[specs.MeshZoneAddress]) }, shapesProxies: true},
	objectKind{name: MeshOpenTelemetryBackendKind, short: "motb", make: func() Object { return new(MeshOpenTelemetryBackend) }, optional: true, shapesProxies: true},
	objectKind{name: WorkloadKind, short: "wl", make: func() Object { return new(ObjectOf[struct{}]) }, optional: true, ignored: true},
	objectKind{name: MeshGatewayKind, short: "mgw", make: func() Object { return new(MeshGateway) }, flat: true, shapesProxies: true},
	objectKind{name: MeshGatewayRouteKind, short: "mgwr", make: func() Object { return new(MeshGatewayRoute) }, flat: true, shapesProxies: true},
	objectKind{name: ZoneKind, short: "z", make: func() Object { return new(ObjectOf[specs.Zone]) }, global: true, flat: true, optional: true, ignored: true},
	objectKind{name: ZoneIngressKind, short: "zi", make: func() Object { return new(ZoneIngress) }, global: true, flat: true, shapesProxies: true},
	objectKind{name: ZoneEgressKind, short: "ze", make: func() Object { return new(ZoneEgress) }, global: true, flat: true, shapesProxies: true},
	objectKind{name: AccessTestKind, short: "atest", make: func() Object { return new(AccessTest) }, flat: true, optional: true, ignored: true},
	objectKind{name: SecretKind, short: "secret", make: func() Object { return new(ObjectOf[specs.Secret]) }, flat: true, shapesProxies: true},
	objectKind{name: MeshIdentityKind, short: "mid", make: func() Object { return new(MeshIdentity) }, shapesProxies: true},
	objectKind{name: MeshTrustKind, short: "mtrust", make: func() Object { return new(MeshTrust) }, shapesProxies: true},
	objectKind{name: ConfigKind, short: "cfg", make: func() Object { return new(VirtualAddresses) }, shapesProxies: true},
)

func kindsByName(kinds ...objectKind) map[string]*objectKind {
	byName := make(map[string]*objectKind, len(kinds))
	for _, kind := range kinds {
		byName[kind.name] = &kind
	}
	return byName
}

func objectNames() []string { return slices.Sorted(maps.Keys(objectKinds)) }

// IsObject reports whether resources of the kind are objects (SPEC 17.2).
func IsObject(kind string) bool { return objectKinds[kind] != nil }

// IsGlobal reports whether objects of the kind belong to no mesh.
func IsGlobal(kind string) bool { return objectKinds[kind] != nil && objectKinds[kind].global }

// isDestination reports whether objects of the kind are destinations.
func (k *objectKind) isDestination() bool {
	_, is := k.make().(Destination)
	return is
}

// place returns the place of the spec of an object that was made in Go.
func (k *objectKind) place(at *diag.At) *diag.At {
	if k.flat {
		return at
	}
	return at.Field("spec")
}
