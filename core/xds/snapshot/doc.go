// Package snapshot builds the Envoy resources of dataplanes from a [core.View] (SPEC
// 11): listeners, routes, clusters, endpoints and secrets.
//
// The pipeline:
//
//  1. [Builder.At] makes the [State] of a view: the endpoints of each service
//     (endpoints.go) and the identities that they have.
//  2. [State.Snapshot] returns the resources of one dataplane. It splits the
//     dataplane into parts: a cluster, endpoints and routes for each destination
//     (cluster.go, load_assignment.go, routes.go), a listener for each outbound
//     (outbound.go), a listener with filter chains, a cluster and routes for each
//     inbound (inbound.go), and what belongs to the proxy as a whole (proxy.go).
//  3. Each part begins as a draft with the defaults of SPEC 11. Then each
//     [xds.Translator], in the order of the list, changes the draft by the effective
//     conf of its policy kind. What has no effect is reported as a [xds.Warning].
//  4. The messages of the draft are marshalled to a [wire.Resource]. Its version is the
//     hash of its bytes.
//  5. [Snapshot.Served] returns the resources in the form of a server. [State.Locate]
//     returns the variant of a name that dynamic parameters choose (locator.go),
//     [State.Relocated] the names that have other variants than before (relocated.go),
//     and [State.Check] the warnings of all dataplanes (check.go).
//
// A client may be gRPC instead of Envoy, see [xds.ClientType]: it gets fewer parts, in the
// form that gRPC accepts (grpc.go).
//
// A part that depends on the destination is built once for all dataplanes with the
// same inputs. Its inputs are a comparable value, the key of a cache (core/internal/weakcache):
// the build function gets the key and no more. The confs in a key are a list; equal
// lists are one pointer (pool.go). Properties of a single dataplane, such as its zone,
// are available to a draft through methods that add the property to the key (facets.go).
//
// Invariants:
//
//   - A snapshot is a function of the view: same view, same bytes, on every
//     replica.
//   - Two resources of one type and name with equal bytes are one pointer while
//     one of them is in use.
//   - Resources, snapshots and states are immutable and safe for concurrent use.
//   - A snapshot is kept while its inputs stay the same. A change of a policy
//     builds again the parts with other effective confs; a change of an endpoint
//     only endpoints.
//
// The package does not depend on streams, nor on the effect of any policy kind.
package snapshot
