// Package laws checks generated code against the laws that merging has to
// keep (SPEC 6). The tests that confgen generates call [Check]; a package may
// call it again with options of its own.
//
// Random confs are made by gofuzz from a fixed seed, with strings and numbers
// from alphabets so small that keys, map entries and union types meet. Then:
//
//  1. identity: an empty conf on either side changes nothing;
//  2. prefix, associativity: the merge of the lowest can stand for them, and
//     any grouping gives the same. A type with a union keeps only the former:
//     what Y dropped of X can not be known from merge(X, Y), so
//     merge(X, merge(Y, X)) may differ from merging all three, and the fold
//     from the lowest is the definition;
//  3. completeness: once Fill reports complete, nothing lower changes anything;
//  4. inputs: merging changes no input;
//  5. aliasing: later merges and changes of a clone change no earlier result;
//  6. equality: Equal agrees with a copy and sees every changed leaf;
//  7. hash: equal confs have equal hashes; a changed leaf changes the hash;
//  8. clone: equal, and no pointer, list or map is shared;
//  9. leaves, priority: each leaf names a value of the result and, unions
//     aside, the highest item that has it;
//  10. origins, removal: exactly the items of the leaves, ascending, without
//     allocation; without any other item the result, unions aside, is the same.
//
// Invariants: what is compared with is made by reflection and independent of
// generated code. Values of types with hand-written Equal, Hash and Clone are
// taken as they are and not looked into.
package laws
