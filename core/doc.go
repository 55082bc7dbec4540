// Package core is what an embedder imports: resources come, change and go, and
// for every dataplane there is its effective configuration, with its reasons,
// computed once for all dataplanes that it is the same for, and again only
// where a change reaches.
//
//	engine := core.NewEngine(kinds.All(), core.Options{})
//	commit, err := engine.Apply(core.Batch{Upsert: *set})
//	for _, change := range commit.Changes() {
//		...                                     // who is affected, where, and why
//	}
//	view := engine.View()                           // from any goroutine
//	configs := view.Configs(dataplane, core.Scope{})
//
// The pipeline of [Engine.Apply], for each mesh of a batch:
//
//  1. What the engine relies on is checked (admission.go), and what changes
//     nothing is dropped (same.go).
//  2. The next version of the index of policies is made (package match). It
//     tells which terms selectors began or ceased to require, and which
//     selectors belong to policies that came, left or changed.
//  3. Dataplanes that came or changed, and those that have such a term, are put
//     into classes (commit.go). Dataplanes of one class have the same of the
//     terms that selectors require, so the same policies select them; a fleet of
//     100,000 has some hundred. Those of a class that also have the same
//     outbounds, by their tags, are one profile.
//  4. Classes that a selector of step 2 matches are selected again. For each
//     kind whose policies are others than before, the confs are evaluated
//     (evaluate.go, package rules), for the class and for its profiles. Each
//     merged conf is a block: one pointer for all places with the same origins,
//     counted, and taken from the earlier state where its inputs are the same.
//  5. The next [View] is published by one atomic store. It shares all that did
//     not change with the one before: pages of dataplanes, profiles, blocks.
//
// [Compare] finds what differs between two views by what they do not share, so
// telling what a commit changed needs no record of it, [Engine.Watch] no queue,
// and a slow watcher gets many commits as one.
//
// Invariants:
//
//   - A [View] is immutable and safe for any number of readers, who never wait.
//     What is read from it is shared and must not be changed. It is freed when
//     nobody has it any more: no view refers to another one.
//   - A batch is applied as a whole or not at all; no reader sees half of one.
//     That is so even where the code of a kind panics: what the writer keeps is
//     then made again from what is published (panic.go).
//   - The view depends on the resources alone, not on the commits that brought
//     them: it answers like [NewView] of the same resources, which is an
//     engine's first commit.
//   - A dataplane of the view has a profile, a profile has members, a class has
//     profiles, and the references to blocks are those that classes and profiles
//     hold. The tests check this after each commit (invariants_test.go).
package core
