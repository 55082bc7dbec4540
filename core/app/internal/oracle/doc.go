// Package oracle has the tests that compare answers with the reference (package naive) on
// random meshes. It has no code but tests.
//
// The real loader loads a scenario of package fuzz, and the answers about each dataplane are
// compared, as JSON, with the answers of the reference. For rule views, the meaning is
// compared for every client or outbound that their selectors distinguish (SPEC 4.5, 5.1,
// 5.3); their forms and sizes are checked against SPEC 5.3 and 5.4.
//
// TestSoak compares seeded scenarios; the fuzz targets compare scenarios from arbitrary
// bytes:
//
//	FuzzMatch      which policies select a dataplane, in which order
//	FuzzEffective  whole answers
//	FuzzFrom       the rule views
//	FuzzPermission decisions about requests to an inbound
package oracle
