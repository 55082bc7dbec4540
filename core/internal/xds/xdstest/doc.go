// Package xdstest has what tests of an ADS server need: a client of both protocols,
// by name and by locator, and a source of states that a test writes by hand.
//
// A [Client] subscribes names and locators, ACKs or NACKs each response, and holds
// what a real client would hold: it applies removals, replaces the state of the world
// of listeners and clusters, and chooses for each locator among the variants by their
// constraints (SPEC 12.4). It can stop reading, and resume on another connection with
// the versions of what it holds.
//
// An [Actor] is a client that acts at random, and compares what it holds with a state.
//
// A [Model] asks as a real [Program] does: Envoy and gRPC clients differ in what they follow, in
// the order of their requests, and in their faults. A [Fleet] has models of all programs that
// follow random edits.
//
// [Seeds] runs a random test with several seeds.
//
// A [Source] publishes states that [NewState] makes of snapshots and variants.
package xdstest
