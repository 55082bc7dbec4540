// Package access answers questions about all requests that an inbound could receive: which
// entries of its permissions decide any request, and which decisions an edit changes (SPEC
// 13.1). It depends on permissions and requests, not on meshes, dataplanes or files.
//
// The pipeline of a question:
//
//  1. [ListOf] lists the entries or items of an inbound's permissions in the order in
//     which they decide: the first one that matches decides.
//  2. Conditions become tests of variables: the SPIFFE ID, the tags of the client, the
//     server name, the method, the path, and each header that an entry names (compile.go).
//  3. A search divides the requests. For a variable that is compared with values, each
//     part contains the texts that meet the same conditions (split.go). For an expression,
//     one part contains the texts that match and the other part all other texts
//     (branch.go). Each division shortens the lists. A list is decided when its first
//     entry has no condition left.
//  4. The division ends where all lists are decided or can no longer differ (search.go).
//     Each remaining region has requests; one of them is its [Witness].
//
// [Compare] takes two lists, before and after. [Regions] takes one. [Needless] continues
// after the entry that decides, and finds the entry that would decide without it. A
// [Decider] decides requests with unknown parts.
//
// Invariants:
//
//   - Answers are exact for all requests of the [Space], not only for samples. A search
//     divides until no test is left, and omits parts without requests. For expressions,
//     their automata determine whether a part has requests.
//   - [permission.Permissions.Decide] decides each witness like its region.
//   - The same input gives the same answer. A question that exceeds its [Limits] returns
//     an error and no answer.
//   - Paths are the paths that an inbound compares, in normal form. A path that the inbound
//     refuses or rewrites before permissions apply is not among them.
package access
