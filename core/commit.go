package core

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/match"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/index"
)

// noProfile is the profile of a dataplane that has not been put into a class.
const noProfile = ^uint32(0)

// commit is a meshCommit under way.
type commit struct {
	*meshWriter
	batch      *meshCommit
	buffer     *match.Buffer
	slots      *index.InternerEditor[proxyName]
	dataplanes index.VectorEditor[dataplane]
	members    index.VectorEditor[index.Set]
	views      index.VectorEditor[*profile]

	unclassed []uint32        // slots
	touched   []*profileState // whose members change
	queue     []*class
	garbage   garbage
}

// commit makes the changes and returns the next state, nil for a mesh that
// has no resources any more. After an error the writer is of no use.
func (b *meshCommit) commit(buffers []match.Buffer) (*meshView, error) {
	w := b.writer
	c := &commit{
		meshWriter: w, batch: b, buffer: &buffers[0],
		slots:      w.now.slots.Edit(),
		dataplanes: w.now.dataplanes.Edit(),
		members:    w.now.members.Edit(),
		views:      w.now.profiles.Edit(),
	}
	for _, d := range b.dataplanes {
		c.replace(d)
	}
	c.classify()
	for _, reached := range w.sorted.Reached(b.delta) {
		c.enqueue(w.classes[reached.Number], true)
	}
	c.settleMembers()
	if err := c.evaluate(buffers); err != nil {
		return nil, err
	}
	c.garbage.release(w.blocks)
	return c.publish(), nil
}

// replace makes one change to the dataplanes. Who comes or changes is put into
// a class later.
func (c *commit) replace(d change[*resource.Dataplane]) {
	name := proxyName{d.id.Namespace, d.id.Name}
	slot, known := c.slots.Lookup(name)
	var old *resource.Dataplane
	if known {
		old = c.dataplanes.Get(slot).resource
	} else {
		slot = c.slots.Intern(name)
	}
	c.population.Replace(slot, old, d.resource)
	entry := c.dataplanes.Mut(slot)
	if d.resource == nil {
		c.leave(slot, c.profiles.byNumber[entry.profile])
		*entry = dataplane{}
		c.slots.Release(slot)
		return
	}
	if old == nil {
		entry.profile = noProfile
	}
	entry.resource = d.resource
	c.unclassed = append(c.unclassed, slot)
}

// classify finds the profile of every dataplane that came or changed, and of
// those that have a term which selectors began or ceased to require.
func (c *commit) classify() {
	slots := c.population.Reached(c.batch.delta, c.unclassed)
	slices.Sort(slots)
	for _, slot := range slices.Compact(slots) {
		entry := c.dataplanes.Get(slot)
		p := c.profileFor(c.classOf(entry.resource), entry.resource)
		if p.number == entry.profile {
			continue
		}
		if entry.profile != noProfile {
			c.leave(slot, c.profiles.byNumber[entry.profile])
		}
		c.dataplanes.Mut(slot).profile = p.number
		c.touch(p)
		p.members.Add(slot)
		p.size++
		if p.now == nil {
			c.enqueue(p.class, false)
		}
	}
}

func (c *commit) classOf(d *resource.Dataplane) *class {
	found := c.sorted.Of(c.batch.index, d, c.buffer)
	for len(c.classes) <= int(found.Number) {
		c.classes = append(c.classes, nil)
	}
	if known := c.classes[found.Number]; known != nil {
		return known
	}
	made := &class{Class: found}
	c.classes[found.Number] = made
	c.enqueue(made, true)
	return made
}

func (c *commit) leave(slot uint32, p *profileState) {
	c.touch(p)
	p.members.Remove(slot)
	p.size--
}

func (c *commit) touch(p *profileState) {
	if p.members == nil {
		members := c.members.Value(p.number).Edit()
		p.members = &members
		c.touched = append(c.touched, p)
	}
}

func (c *commit) enqueue(k *class, reselect bool) {
	k.reselect = k.reselect || reselect
	if !k.queued {
		k.queued = true
		c.queue = append(c.queue, k)
	}
}

// settleMembers publishes who is in which profile, and forgets profiles and
// classes that nobody is in any more. Until here no number was given out
// twice.
func (c *commit) settleMembers() {
	for _, p := range c.touched {
		*c.members.Mut(p.number) = p.members.Commit()
		p.members = nil
		if p.size > 0 {
			continue
		}
		c.garbage.add(p.now, nil)
		*c.views.Mut(p.number) = nil
		c.profiles.drop(p)
		if k := p.class; len(k.profiles) == 0 {
			c.garbage.addParts(k, &class{})
			c.sorted.Drop(k.Class)
			c.classes[k.Number] = nil
		}
	}
	c.queue = slices.DeleteFunc(c.queue, func(k *class) bool { return len(k.profiles) == 0 })
}

func (c *commit) publish() *meshView {
	b := c.batch
	next := &meshView{
		name:       c.name,
		lineage:    c.now.lineage,
		document:   b.document,
		slots:      c.now.slots,
		dataplanes: c.dataplanes.Commit(),
		profiles:   c.views.Commit(),
		members:    c.members.Commit(),
		index:      b.index,
		list:       c.now.list,
	}
	if len(b.dataplanes) > 0 {
		next.slots, next.list = c.slots.Commit(), new(dataplaneList)
	}
	c.now = next
	if c.empty() {
		return nil
	}
	return next
}

// garbage is what the states before held references to, released once the new
// one holds its own: so what stays is never made again.
type garbage struct {
	parts   []*rules.Part
	configs []*rules.Config
}

// add takes what old holds and next does not; both may be nil.
func (g *garbage) add(old, next *profile) {
	for _, config := range old.outboundConfigs() {
		if !slices.Contains(next.outboundConfigs(), config) {
			g.configs = append(g.configs, config)
		}
	}
}

func (g *garbage) addParts(old, next *class) {
	for _, part := range old.parts() {
		if !slices.Contains(next.parts(), part) {
			g.parts = append(g.parts, part)
		}
	}
}

func (g *garbage) release(blocks *rules.Blocks) {
	for _, config := range g.configs {
		blocks.ReleaseOutbounds(config)
	}
	for _, part := range g.parts {
		blocks.Release(part)
	}
}
