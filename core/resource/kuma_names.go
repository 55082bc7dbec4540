package resource

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// The labels that Kuma's control planes write (SPEC 17.2).
const (
	DisplayNameLabel = "kuma.io/display-name"
	WorkloadLabel    = "kuma.io/workload"
	OriginLabel      = "kuma.io/origin"
	PolicyRoleLabel  = "kuma.io/policy-role"
	NamespaceLabel   = "k8s.kuma.io/namespace"
)

// labelAnnotations are the labels that Kuma keeps in annotations on Kubernetes.
var labelAnnotations = [...]string{DisplayNameLabel, WorkloadLabel, ServiceAccountLabel}

// DisplayName returns the name of the resource in the place where it was made:
// its label kuma.io/display-name or, without the label, its name.
func (m *Meta) DisplayName() string {
	if name, present := m.Labels.Get(DisplayNameLabel); present {
		return name
	}
	return m.Name
}

// HomeNamespace returns the namespace in which the resource was made, or "". It is
// the value of the label k8s.kuma.io/namespace; see [NamespaceLabel].
func (m *Meta) HomeNamespace() string { return m.Labels.Value(NamespaceLabel) }

// HasLabels reports whether the resource has all labels of a selector by Kuma's
// rules: each value is equal, and every resource has a display name.
func (m *Meta) HasLabels(selector Tags) bool {
	for _, want := range selector {
		value, present := m.Labels.Get(want.Key)
		if !present && want.Key == DisplayNameLabel {
			value, present = m.Name, true
		}
		if !present || value != want.Value {
			return false
		}
	}
	return true
}

// Origin is the kind of the control plane from which a resource was received. The
// constants are in the order in which policies override each other, lowest priority
// first.
type Origin uint8

// The origins.
const (
	GlobalOrigin Origin = iota
	NoOrigin            // there is no label, for example without zones
	ZoneOrigin
)

// Origin returns the origin by the label kuma.io/origin.
func (m *Meta) Origin() Origin { return originOf(m.Labels.Value(OriginLabel)) }

func originOf(word string) Origin {
	switch word {
	case "global":
		return GlobalOrigin
	case "zone":
		return ZoneOrigin
	}
	return NoOrigin
}

// maxSyncedName is the maximum number of bytes of the display name in a synced
// name.
const maxSyncedName = 236

// safeCharacters replace the digits of a hash, so that no word occurs by chance.
const safeCharacters = "bcdfghjklmnpqrstvwxz2456789"

// SyncedName returns the name that Kuma gives to a resource that it copies to another
// control plane (SPEC 17.2). Zone and namespace are empty if the resource has none.
func SyncedName(mesh, displayName, zone, namespace string) string {
	sum := fnv.New64a()
	for _, part := range [...]string{mesh, displayName, zone, namespace} {
		_, _ = sum.Write([]byte(part)) // never fails
	}
	hash := []byte(fmt.Sprintf("%016x", sum.Sum64()))
	for i, digit := range hash {
		hash[i] = safeCharacters[int(digit)%len(safeCharacters)]
	}
	return strings.ToValidUTF8(displayName[:min(len(displayName), maxSyncedName)], "") + "-" + string(hash)
}
