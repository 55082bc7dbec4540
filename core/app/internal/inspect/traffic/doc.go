// Package traffic answers questions about many clients and requests:
//
//   - [NewReach]: which clients may call which inbound (SPEC 13.2)
//   - [RunTests]: whether the assertions of AccessTests hold (SPEC 13.3)
//   - [NewReplay]: what the policies decide about the requests of access logs (SPEC 13.6)
//
// Answers are about all requests that could exist, by the regions of package access.
// Permissions that are equal are compared once. A question that exceeds its limit is
// answered "unknown", with the reason.
package traffic
