// Package admission answers the API server of Kubernetes, which asks before it stores an
// object (SPEC 12.6): an AdmissionReview is answered with the findings that the object adds,
// and with what it opens, closes and drains. Nothing is changed or stored.
//
//  1. review.go reads the review, within a limit of its size, and writes the answer.
//  2. judge.go decodes the object as the store does, edits a copy of the set that is served,
//     and compares both: by package diff what changes, by package check what is found.
//  3. An error in the object refuses it, and so do the findings that [Options.Refuses] names.
//     All others are warnings, which kubectl prints.
//
// An answer takes less than a second (package bounded). If it would take longer,
// [Options.RefuseLate] decides.
package admission
