// Package access answers questions about every request that an inbound could receive: which
// entries of its permissions decide about any, and which decisions an edit changes (SPEC
// 13.1). It knows permissions and requests, and no meshes, dataplanes or files.
//
// The pipeline of a question:
//
//  1. [ListOf] puts the entries or items of an inbound's permissions in the order in which
//     they decide: the first one that matches does.
//  2. Conditions become tests of variables: the SPIFFE ID, the tags of the client, the
//     server name, the method, the path, and each header that an entry names (compile.go).
//  3. A search divides the requests. For a variable that is compared with values it takes
//     each set of texts that meet the same conditions (split.go). For an expression it
//     takes the texts that match and those that do not (branch.go). With each division the
//     lists get shorter; a list is decided when its first entry has no condition left.
//  4. Where all lists are decided, or cannot differ any more, the division ends (search.go).
//     Each region that remains has requests, and one of them is its [Witness].
//
// [Compare] has two lists, before and after; [Regions] has one; [Needless] looks behind the
// entry that decides, at what would decide without it. A [Decider] has requests of which
// some parts are known.
//
// Invariants:
//
//   - Answers are exact for all requests of the [Space], not for samples: a search divides
//     until nothing is left to test, and a division without requests is left out, which for
//     expressions is decided by their automata.
//   - Each witness is decided by [permission.Permissions.Decide] as its region says.
//   - The same input gives the same answer. A question that takes more than [Limits] is an
//     error, and has no answer.
//   - Paths are those that an inbound compares, in normal form. What it refuses or rewrites
//     before permissions are asked is none of them.
package access
