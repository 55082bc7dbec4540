package check

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/ruleviews"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// Check is the answer of `check` (SPEC 10).
type Check struct {
	Semantics semantics.Semantics `json:"semantics,omitzero"` // of the warnings (SPEC 17.1); zero if nothing was read, so that none was chosen
	Resources map[string]int      `json:"resources"`          // the number of each kind
	Skipped   map[string]int      `json:"skipped"`            // documents on which no answer depends, by kind
	// Unread is, by kind, the number of documents that configure proxies but are not
	// read. No answer includes their configuration.
	Unread   map[string]int    `json:"unread,omitempty"`
	Errors   []diag.Diagnostic `json:"errors"`   // sorted by position; if there are any, there are no resources
	Warnings []diag.Diagnostic `json:"warnings"` // sorted by place
	// Info are the findings that are no warnings: usual and correct, sorted by place.
	Info []diag.Diagnostic `json:"info,omitempty"`
	// Envoy lists what the Envoys of the question lack, with what they get instead. An entry may be
	// about no field that is left out.
	Envoy []capability.Lack `json:"envoy,omitempty"`
}

// MarshalJSON returns the answer with one element for each cause of findings.
func (c *Check) MarshalJSON() ([]byte, error) {
	type fields Check
	return json.Marshal(struct {
		*fields
		Warnings []Group `json:"warnings"`
		Info     []Group `json:"info,omitempty"`
	}{(*fields)(c), Grouped(c.Warnings), Grouped(c.Info)})
}

// Findings returns the warnings and the information, sorted by place.
func (c *Check) Findings() []diag.Diagnostic {
	return diag.Sorted(slices.Concat(c.Warnings, c.Info))
}

// SetFindings replaces the warnings and the information.
func (c *Check) SetFindings(findings []diag.Diagnostic) {
	c.Warnings, c.Info = []diag.Diagnostic{}, nil
	for _, f := range diag.Sorted(findings) {
		if f.Code.Class().IsWarning() {
			c.Warnings = append(c.Warnings, f)
		} else {
			c.Info = append(c.Info, f)
		}
	}
}

// New examines the loaded resources and their view. It returns the number
// of resources, and warnings about valid input without effect or with an
// unexpected effect.
func New(view *core.View, set *resource.Set) *Check {
	warnings := slices.Clone(set.Warnings)
	views := ruleviews.New(partition.Limits{}, true)
	identities := sync.OnceValue(func() *identitySet { return newIdentitySet(view) })
	for _, mesh := range view.Meshes() {
		m := newMeshCheck(view, mesh)
		m.identities = identities
		if len(m.dataplanes) == 0 {
			m.withoutDataplanes()
		} else {
			m.examine(views)
		}
		warnings = append(warnings, m.warnings...)
	}
	warnings = append(warnings, PlacementWarnings(view)...)
	warnings = append(warnings, overlappingTrustDomains(view)...)
	check := &Check{
		Semantics: view.Semantics(), Resources: view.Count(), Skipped: map[string]int{}, Errors: []diag.Diagnostic{},
	}
	check.SetFindings(warnings)
	for _, document := range set.Documents {
		check.Resources[document.Kind]++
	}
	maps.Copy(check.Skipped, set.Skipped)
	check.Unread = maps.Clone(set.Unread)
	return check
}

// examine makes all checks of a mesh with dataplanes.
func (m *meshCheck) examine(views *ruleviews.Views) {
	m.idlePolicies()
	m.overriddenItems(views)
	m.ignoredFrom()
	m.absentClients()
	m.httpOnTCP()
	m.idleEntries()
	m.unknownIdentities()
	m.prefixesOfText()
	m.closedInbounds()
	m.differingInbounds()
	m.sharedListeners()
	m.openInbounds()
	m.withoutIdentity()
	m.unresolved()
	m.collectors()
	m.mixedRoles()
	m.unreadFields()
	m.builtinGateways()
	m.defaultPolicies()
}

// meshCheck contains the data for the checks of one mesh, and the warnings so far.
type meshCheck struct {
	warnings   []diag.Diagnostic
	view       *core.View
	mesh       string
	dataplanes []*resource.Dataplane
	policies   []*resource.Policy
	configs    []dataplaneConfig
	// workloads returns the workloads of the mesh. It collects them at the
	// first call.
	workloads func() *workloads
	// outboundServices returns the services of the outbounds that are given by tags.
	outboundServices func() map[string]bool
	// accessLimits bounds questions about permissions. A question past the limits
	// gets no warning.
	accessLimits access.Limits
	identities   func() *identitySet // of all meshes
	// allows reports whether inbounds allow any request. idleEntries adds those that it
	// examines.
	allows map[requests.Inputs]bool
}

// dataplaneConfig is a config with the first dataplane that has it.
type dataplaneConfig struct {
	*results.Config
	dataplane *resource.Dataplane
	shadow    bool // the dataplane has it only with the policies that inform
}

// newMeshCheck collects the distinct configs of a mesh, both with and without
// the policies that only inform. An item has an effect if it has one in either.
func newMeshCheck(view *core.View, mesh string) *meshCheck {
	m := &meshCheck{view: view, mesh: mesh, dataplanes: view.Dataplanes(mesh), policies: view.Policies(mesh), accessLimits: requests.Limits(1), allows: map[requests.Inputs]bool{}}
	m.workloads = sync.OnceValue(func() *workloads { return newWorkloads(m.dataplanes) })
	m.outboundServices = sync.OnceValue(func() map[string]bool { return servicesOfOutbounds(m.dataplanes) })
	seen := map[*results.Config]bool{}
	for _, d := range m.dataplanes {
		for _, shadow := range []bool{false, true} {
			for _, config := range view.Configs(d, inspect.ScopeOf(shadow)) {
				if !seen[config] {
					seen[config] = true
					m.configs = append(m.configs, dataplaneConfig{config, d, shadow})
				}
			}
		}
	}
	return m
}

func (m *meshCheck) warn(w diag.Diagnostic) { m.warnings = append(m.warnings, w) }

// withoutIdentity warns of dataplanes that an identity selects but cannot give a
// SPIFFE ID (SPEC 11.6).
func (m *meshCheck) withoutIdentity() {
	identities := m.view.Identities(m.mesh)
	for _, d := range m.dataplanes {
		if _, err := identities.IdentityOf(d); err != nil {
			m.warn(diag.Diagnostic{Code: diag.NoSPIFFEID, Pos: d.Pos, Path: "labels", What: err.Error(), Hint: "without a SPIFFE ID it is a client without identity"})
		}
	}
}
