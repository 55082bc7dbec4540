// Package rbac reads what the filters of a chain allow as lists of core/internal/access, so that one
// engine decides policies and proxies (SPEC 19.3, 19.5). It depends on Envoy's messages, not on
// policies.
//
// [New] works in these steps:
//
//  1. Each filter becomes a list: RBAC by its `rules` or `matcher` (rules.go, matcher.go), any
//     other filter by a table of what can refuse or change a request (other.go).
//  2. A condition becomes a set of requests (condition.go), and a string matcher a condition on a
//     part of the request (pattern.go).
//  3. What cannot be known from a dump, such as metadata or an unknown field, becomes a condition
//     that may hold or not. So it makes answers unknown, and never silently right.
//
// A certificate has at most one SPIFFE ID, further URIs for tags, no DNS name and an empty subject.
// A header has one line. A request that these exclude is in no answer.
package rbac
