package snapshot

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// warnRequired reports the required fields that had no effect on any part.
func (sb *snapshotBuilder) warnRequired() {
	for _, config := range sb.basis.configs {
		required := sb.shape.required[config.Kind.Name]
		if required == nil || config.Default == nil {
			continue
		}
		for _, field := range required(config.Default) {
			applied := xds.Applied{Kind: config.Kind.Name, Field: field.Field}
			applies := func(b *built) bool { return slices.Contains(b.applied, applied) }
			switch {
			case slices.ContainsFunc(sb.snapshot.own, applies) || slices.ContainsFunc(sb.shared.parts, applies):
			case field.OnPart:
				sb.WarnInbound(config.Default, field.Field, "%s", field.Reason)
			default:
				sb.Warn(diag.NoEffectHere, config.Default, field.Field, "%s", field.Reason)
			}
		}
	}
}

// warnUntranslated reports the confs that no translator of their kind has a function for.
func (sb *snapshotBuilder) warnUntranslated() {
	inbounds := xds.Report{Place: sb.Place, OfInbound: true}
	for at, config := range sb.basis.configs {
		warn := func(r *xds.Report, of string, origins []results.Origin) {
			for _, o := range origins {
				r.WarnPolicy(diag.NoTranslator, o.Policy, o.Index, "", "no translator of %s shapes %s, so it has no effect on proxies", config.Kind.Name, of)
			}
		}
		reach := sb.shape.reach[config.Kind.Name]
		if !reach.anything {
			warn(&sb.Report, "anything", originsOf(config.Default))
		}
		for i := range config.Inbounds {
			if reach.inbounds {
				break
			}
			warn(&inbounds, "inbounds", xds.InboundConf{InboundConfig: config.Inbounds[i]}.Origins())
		}
		outbounds := config.Outbounds
		if targets := sb.basis.targets; targets != nil {
			outbounds = slices.Concat(outbounds, targets.configs[at].Outbounds)
		}
		for _, outbound := range outbounds {
			if reach.outbounds {
				break
			}
			warn(&sb.Report, "outbounds", originsOf(outbound.Effective))
			for _, route := range outbound.Routes {
				warn(&sb.Report, "outbounds", originsOf(route.Effective))
			}
		}
	}
	sb.Warnings = append(sb.Warnings, inbounds.Warnings...)
}

// warnRoutes reports the confs for single routes of an outbound of kinds that shape all
// routes of it together (SPEC 11.4).
func (sb *snapshotBuilder) warnRoutes(o *outbound, http bool) {
	for _, config := range o.configs {
		reach := sb.shape.reach[config.Kind.Name]
		if config.Outbounds == nil || !reach.outbounds || http && reach.routes || !http && reach.listeners {
			continue
		}
		routes := config.Outbound(o.index).Routes
		if len(routes) == 0 {
			continue // most outbounds have none, and need no report
		}
		r := xds.Report{Place: o.destination.name}
		for _, route := range routes {
			switch {
			case route.Effective == nil:
			case !http || !reach.byRoute || sb.client.Type == xds.ProxylessGRPC:
				r.WarnRoute(route.Effective, "", "all routes of an outbound share its %s", config.Kind.Name)
			case !o.confs.makes(route.Route, o.index):
				r.WarnRoute(route.Effective, "", "no route here is made by %s", route.Route.KRI())
			}
		}
		sb.Warnings = append(sb.Warnings, r.Warnings...)
	}
}
