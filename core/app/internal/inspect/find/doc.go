// Package find finds what a question names in a view (SPEC 10):
//
//   - dataplanes, clients, policies and kinds by name or short name
//   - inbounds and outbounds by name, port, address or KRI
//   - the dataplanes of a selection or a service
//
// The error for an unknown name or a contradictory question is an [Error]. It names
// fields of the question ([Field]); the command line and the HTTP API translate them to
// their own spelling. A name that is not found comes with the nearest known one.
package find
