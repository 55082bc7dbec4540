package mesh

import (
	"context"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// noProfile is the profile number of a dataplane that has no class yet.
const noProfile = ^uint32(0)

// Update makes the next state of a mesh. It is prepared by
// [Writer.Prepare] and run once; then its editors exist.
type Update struct {
	writer    *Writer
	resources *resources // of the next state
	edits     []Edit[*resource.Dataplane]
	index     *match.Index // of the next state
	delta     *match.Delta // what the policies' changes reach

	buffer  *match.Buffer                    // to classify dataplanes
	slots   *index.InternerEditor[proxyName] // nil: no dataplane was added or removed; see slotEditor
	entries index.VectorEditor[dataplane]    // by slot
	members index.VectorEditor[*memberSet]
	views   index.VectorEditor[*profileView]

	edited         []uint32   // slots of dataplanes that were added or may have changed their profile
	reached        []uint32   // slots of those with a fact that selectors began or ceased to require
	movedPlacement []uint32   // slots of those that came to a placement or left it
	regrouped      []*profile // profiles whose members change
	queue          []*class   // classes to evaluate
}

// Writer returns the writer that prepared the update.
func (u *Update) Writer() *Writer { return u.writer }

// Run makes the changes and returns the next state, nil for a mesh without
// resources. After an error the writer must not be used again.
func (u *Update) Run(ctx context.Context, memory *Buffers) (*State, error) {
	buffers := memory.forWorkers()
	u.buffer = &buffers[0]
	u.entries = u.writer.now.dataplanes.Edit()
	u.members = u.writer.now.members.Edit()
	u.views = u.writer.now.profiles.Edit()
	var indexing sync.WaitGroup
	defer indexing.Wait()
	isFirst := u.writer.now.slots.Len() == 0
	for _, d := range u.edits {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		u.replace(d, isFirst)
	}
	if isFirst {
		slots := slices.Clone(u.edited)
		indexing.Go(func() { u.indexAll(slots) })
	} else {
		u.reached = u.writer.dataplanes.Reached(u.delta, nil)
		u.movedPlacement = u.writer.dataplanes.ReachedByPlacements(u.delta, nil)
	}
	if err := u.classify(ctx); err != nil {
		return nil, err
	}
	for _, reached := range u.writer.classes.Reached(u.delta) {
		u.enqueue(reached, true)
	}
	u.commitMembers()
	if err := u.evaluate(ctx, buffers); err != nil {
		return nil, err
	}
	u.writer.hashed = nil
	return u.publish(), nil
}

// indexAll adds all dataplanes of a mesh that had none to the index of dataplanes,
// given their slots. Nothing else of the update uses that index: every dataplane
// is classified, even one that no policy reaches.
func (u *Update) indexAll(slots []uint32) {
	for i, d := range u.edits {
		u.writer.dataplanes.Replace(slots[i], nil, d.Resource)
	}
}

// replace makes one change to the dataplanes. A dataplane that is added gets its class in
// classify, and a changed one if its profile may change. If it is one of the first of its mesh,
// it is not added to the index of dataplanes.
func (u *Update) replace(d Edit[*resource.Dataplane], isFirst bool) {
	name := proxyName{d.ID.Namespace, d.ID.Name}
	slot, known := u.writer.now.slots.Lookup(name)
	var old *resource.Dataplane
	if known {
		old = u.entries.Get(slot).resource
	} else {
		slot, _ = u.slotEditor().Add(name)
	}
	var by match.FactDelta
	if !isFirst {
		by = u.writer.dataplanes.Replace(slot, old, d.Resource)
	}
	entry := u.entries.Mut(slot)
	if d.Resource == nil {
		u.leave(slot, u.writer.profiles.byNumber[entry.profile])
		*entry = dataplane{}
		u.slotEditor().Release(slot)
		return
	}
	if old == nil {
		entry.profile = noProfile
	}
	entry.resource = d.Resource
	samePolicies := u.index == u.writer.now.index
	if old != nil && samePolicies && u.index.SameClass(old, d.Resource, by) && equalOutboundTags(old.Outbounds, d.Resource.Outbounds) {
		return
	}
	u.edited = append(u.edited, slot)
}

func (u *Update) slotEditor() *index.InternerEditor[proxyName] {
	if u.slots == nil {
		u.slots = u.writer.now.slots.Edit()
	}
	return u.slots
}

// classify finds the profile of every dataplane that was edited, or for which a reported
// fact or a placement changed.
func (u *Update) classify(ctx context.Context) error {
	slices.Sort(u.edited)
	for _, slot := range u.edited {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		d := u.entries.Get(slot).resource
		u.join(slot, u.writer.profileFor(u.writer.classes.Classify(u.index, d, u.buffer), d))
	}
	moves := u.writer.classes.MovesTo(u.index, u.delta)
	for _, slot := range u.reached {
		if _, done := slices.BinarySearch(u.edited, slot); !done {
			if err := u.move(ctx, slot, moves.Classify); err != nil {
				return err
			}
		}
	}
	inPlacements := func(from *class, d *resource.Dataplane, b *match.Buffer) *class {
		return u.writer.classes.InPlacements(u.index, from, d, b)
	}
	for _, slot := range u.movedPlacement {
		if err := u.move(ctx, slot, inPlacements); err != nil {
			return err
		}
	}
	return nil
}

// move finds the profile of a dataplane that is itself unchanged, by its next class.
func (u *Update) move(ctx context.Context, slot uint32, next func(from *class, d *resource.Dataplane, b *match.Buffer) *class) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entry := u.entries.Get(slot)
	from := u.writer.profiles.byNumber[entry.profile]
	if c := next(from.class, entry.resource, u.buffer); c != from.class {
		u.join(slot, u.writer.profileWith(c, from.outbounds, entry.resource))
	}
	return nil
}

// join moves a dataplane to a profile, from the one that it has, if it has one. A
// new profile is queued for evaluation.
func (u *Update) join(slot uint32, p *profile) {
	if number := u.entries.Get(slot).profile; number != noProfile {
		if number == p.number {
			return
		}
		from := u.writer.profiles.byNumber[number]
		u.leave(slot, from)
		setPredecessor(p, from)
	}
	u.entries.Mut(slot).profile = p.number
	u.editMembers(p)
	p.members.Add(slot)
	p.size++
	if p.view == nil {
		u.enqueue(p.class, p.class.State.enforced == nil)
	}
}

// leave removes a dataplane from its profile.
func (u *Update) leave(slot uint32, p *profile) {
	u.editMembers(p)
	p.members.Remove(slot)
	p.size--
}

func (u *Update) editMembers(p *profile) {
	if p.members == nil {
		members := u.members.Value(p.number).set().Edit()
		p.members = &members
		u.regrouped = append(u.regrouped, p)
	}
}

func (u *Update) enqueue(c *class, reselect bool) {
	state := &c.State
	state.reselect = state.reselect || reselect
	if !state.queued {
		state.queued = true
		u.queue = append(u.queue, c)
	}
}

// commitMembers commits the new members of each profile, and drops profiles
// without members and classes without profiles. Their numbers are reused by
// later updates only, so within an update a number has one meaning.
func (u *Update) commitMembers() {
	for _, p := range u.regrouped {
		members := p.members.Commit()
		p.members = nil
		if p.size > 0 {
			*u.members.Mut(p.number) = &memberSet{slots: members}
			continue
		}
		*u.members.Mut(p.number) = nil
		*u.views.Mut(p.number) = nil
		u.writer.profiles.drop(p)
		if c := p.class; len(c.State.profiles) == 0 {
			u.writer.classes.Drop(c)
		}
	}
	u.queue = slices.DeleteFunc(u.queue, func(c *class) bool { return len(c.State.profiles) == 0 })
}

// publish returns the next state, or nil for a mesh without resources.
func (u *Update) publish() *State {
	next := &State{
		name:       u.writer.name,
		blocks:     u.writer.blocks,
		kinds:      u.writer.kinds,
		lineage:    u.writer.now.lineage,
		resources:  u.resources,
		slots:      u.writer.now.slots,
		dataplanes: u.entries.Commit(),
		profiles:   u.views.Commit(),
		members:    u.members.Commit(),
		index:      u.index,
		list:       u.writer.now.list,
		toItems:    u.writer.now.toItems,
	}
	if now := u.writer.now; u.index != now.index || u.resources.destinations != now.resources.destinations {
		next.toItems = now.toItems.after()
	}
	if u.slots != nil {
		next.slots = u.slots.Commit()
	}
	if len(u.edits) > 0 {
		next.list = new(dataplaneList)
	}
	u.writer.now = next
	if u.writer.empty() {
		return nil
	}
	return next
}
