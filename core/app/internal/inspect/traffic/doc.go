// Package traffic answers questions about many clients and requests: who may call which
// inbound ([NewReach], SPEC 13.2), whether the assertions of AccessTests hold ([RunTests],
// SPEC 13.3), and what the policies decide about the requests of access logs ([NewReplay],
// SPEC 13.6).
//
// Answers are about all requests that could exist, by the regions of package access.
// Permissions that are equal are compared once. A question that exceeds its limit is
// answered "unknown", with the reason.
package traffic
