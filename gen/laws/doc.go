// Package laws checks the laws of merging (SPEC 6). The tests that confgen
// generates call [Check] for each root type, with random confs from a fixed seed.
// Tests with their own confs use [Type.Laws].
//
// The laws, for each sequence of confs:
//
//  1. identity: an empty conf on either side changes nothing;
//  2. prefix, associativity: the merge of the lowest confs can replace them, and
//     any grouping gives the same result. Types with a union keep only the first
//     law: the value of merge(Y, X) no longer contains the Y that dropped a lower
//     X;
//  3. completeness: once Fill reports complete, no lower conf changes the
//     result;
//  4. inputs: merging changes no input;
//  5. aliasing: later merges, and changes of a clone, change no earlier result;
//  6. equality: Equal is true for a copy, and false if any part differs;
//  7. hash: equal confs have equal hashes; a different part changes the hash;
//  8. clone: a clone is equal and shares no pointer, list or map;
//  9. leaves, priority: each leaf names a part of the result and, without unions,
//     the highest item that has it;
//  10. origins, removal: the origins are the items of the leaves, ascending;
//     without any other item the result is the same, unless there is a union.
//
// Laws 7 and 8 are checked for types with the methods Hash and Clone.
//
// Invariants: expected values are made by reflection and do not depend on generated
// code. A value of a type with a hand-written Equal is compared only as a whole.
package laws
