// Package xds is what a translator sees of the Envoy resources of a dataplane (SPEC 11).
//
//  1. Package snapshot makes a draft for each part of a dataplane, with the defaults of
//     SPEC 11: a [Cluster], [Endpoints] and [Routes] for each destination, an [Outbound],
//     an [Inbound] with a [Chain] for each filter chain, and the [Proxy] as a whole.
//  2. It passes the draft to each [Translator], in the order of a list. The translator
//     changes the messages of the draft by the effective conf of its policy kind, and
//     reports what has no effect there by methods of [Report]: each is a [Warning].
//  3. The finished messages are a [Part]. A translator with Finish may change them.
//
// A draft that many dataplanes share has [Facets]: a translator asks them for a property
// of the client's dataplane, and the part is built once for each value of it.
//
// Invariants:
//
//   - A draft belongs to one call: a translator changes it and does not keep it. Endpoints,
//     confs, policies and dataplanes are shared, and are not changed.
//   - What a draft becomes depends on its defaults, the confs and the facets that were asked
//     for alone.
//
// The package does not know how drafts are cached, marshalled or served.
package xds
