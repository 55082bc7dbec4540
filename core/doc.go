// Package core computes the effective configuration of every dataplane of a
// service mesh from its policies, with reasons. It keeps the configuration up
// to date as resources change.
//
// # Usage
//
// An [Engine] takes resources in batches and publishes a [View] after each one. A
// [resource.Loader] decodes resources from documents. A program may also make them: a
// dataplane with [resource.NewDataplane], a policy with the function New of its kind's
// package.
//
//	loader := resource.Loader{Kinds: kinds.All()}
//	set, err := loader.Load(ctx, "mesh.yaml")
//	engine := core.NewEngine(loader.Kinds, core.Options{Semantics: core.Detect(set)})
//	commit, err := engine.Apply(ctx, core.Batch{Upsert: set})
//
// A commit reports which dataplanes changed, where, and because of which policies.
// [Engine.Watch] reports the same to any number of watchers:
//
//	for _, change := range commit.Changes() {
//		for _, dataplane := range change.Dataplanes() {
//			log.Println(dataplane.Name, change.Action, change.Places, change.Policies)
//		}
//	}
//
// A view is immutable, and any goroutine may read it. It has the effective conf of each
// outbound and inbound, with the item that set each field:
//
//	view := engine.View()
//	dataplane := view.Dataplane(resource.ID{Mesh: "default", Name: "web-1"})
//	outbounds, err := view.Outbounds(dataplane, "MeshTimeout", core.Enforced)
//	for _, outbound := range outbounds {
//		timeout, err := results.ConfOf[meshtimeout.Conf](outbound.Effective)
//		log.Println(outbound, timeout)
//		for field, origin := range outbound.Fields() {
//			log.Println(field, "is set by", origin.Policy.Name, origin.Index)
//		}
//	}
//
// An outbound is given by tags, or it is a port of a MeshService or of another destination.
// [View.Config] has the confs of inbounds.
//
// The Example is a whole program. GUIDE.md in this directory shows how to embed the
// engine and how to write a policy kind. SPEC.md contains the rules; comments cite them
// as "SPEC n.n".
//
// # The data path
//
//	                                                 ┌──> results: confs and their origins
//	documents ──> resource.Set ──> Engine ──> View ──┼──> inspect, access: answers
//	                               (Apply)           └──> xds/snapshot ──> xds/server ──> Envoy, gRPC
//
// Answers and Envoy resources are functions of the view: the same resources give the same
// bytes.
//
// # How it works
//
// A policy has items, each with a conf: values such as timeouts. The merge of the
// confs that apply to an outbound, a route or an inbound is its effective conf.
// A mesh has many dataplanes and few different results, so work is done once for
// each set of dataplanes with the same result:
//
//	mesh ──> class ──> profile ──> dataplane
//	          │          │
//	          │          └─ outbounds and routes: merged confs ──┐
//	          └─ policies, inbounds, defaults: merged confs ─────┴──> blocks
//
// A destination (a MeshService, a MeshExternalService or a MeshMultiZoneService) is a third
// axis (core/internal/destination). A dataplane reaches destinations by references, or all of
// them as a transparent proxy. The conf of such an outbound is merged from the items that
// find its destination. These confs are in no block: [View.Outbounds] merges them on demand,
// and dataplanes with equal items share the result.
//
// The fourth axis are the parameters of clients: core/internal/variant compiles the variants of a
// resource from the items that each choice of parameters leaves (SPEC 9). One package,
// core/internal/items, finds the items of all four: it files them by what their targetRefs name.
//
// The words of this picture:
//
//   - A fact is what a targetRef or a binding requires of a dataplane: a tag, a
//     label, a name or a placement. Dataplanes are in one class if they agree on every
//     fact that some policy requires, so the same policies select them. 100,000
//     dataplanes have a few hundred classes.
//   - A profile is the set of dataplanes of a class that also have the same
//     outbounds, by their tags. They have the same configuration.
//   - A block is a merged conf, or the configuration of an inbound. Blocks with
//     equal inputs are one pointer for the whole mesh.
//
// [Engine.Apply] takes these steps:
//
//  1. It validates the resources of the batch, and checks that no identity is in it
//     twice (admission.go).
//  2. It updates the placements and bindings (package enforce), which reports the
//     policies whose bindings changed, and the zones and labels of the dataplanes
//     that entered or left a placement, the set of dataplanes that OCM objects
//     choose.
//
// Then, for each mesh that the batch or this report concerns (core/internal/mesh):
//
//  3. It removes from the batch what changes nothing (content.go).
//  4. It updates the index of policies (core/internal/match), which reports the
//     facts that targetRefs began or ceased to require, and the selectors of the
//     policies that changed. An error up to here changes nothing in any mesh.
//  5. It puts dataplanes that were added or changed, those with a reported fact, and
//     those that entered or left a placement, into their classes and profiles
//     (update.go).
//  6. It selects the policies of the classes that a reported selector matches
//     (reselect.go), and evaluates the kinds whose policies changed, for the class
//     and for its profiles (evaluate.go, core/internal/blocks). A new class starts
//     from the results of the class that its first dataplane left (origin.go).
//
// Finally it publishes the next [View] by one atomic store. Unchanged parts (pages of
// dataplanes, profiles, blocks) are shared with the previous view.
//
// A view also contains the MeshIdentities and MeshTrusts, for packages that build on it,
// such as xds. Classes and profiles do not depend on them
// (core/internal/mesh/resources.go).
//
// [Compare] finds the differences between two views by what they do not share. So there
// is no log of changes, [Engine.Watch] needs no queue, and a slow watcher gets several
// commits as one. [CompareDestinations] does the same for destinations such as
// MeshServices: a change of one concerns every dataplane that reaches it.
//
// # Invariants
//
//   - A [View] is immutable and safe for concurrent use; readers never wait. What
//     it returns is shared and must not be changed. No view refers to another one,
//     so a view is freed when no reader refers to it.
//   - A batch is applied as a whole or not at all, and no reader sees a part of
//     it. This also holds if the code of a policy kind panics: the state of the
//     writer is then rebuilt from the published view.
//   - A view depends on its resources alone, not on the commits that led to it: it
//     equals [Options.NewView] of the same resources.
//   - A dataplane has one profile, a profile has members, and a class has
//     profiles. Tests check this after each commit
//     (core/internal/mesh/invariants.go).
package core
