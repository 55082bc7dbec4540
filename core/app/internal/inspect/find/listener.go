package find

import (
	"cmp"
	"net"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Listener returns the index, in the order of answers, of the listener with a name, a
// port or a KRI. It is of a builtin gateway or a zone proxy. A listener of a gateway also
// has its host name, one of a zone proxy its type, and its address and port. The error is
// [ErrNotFound].
func Listener(view *core.View, d *resource.Dataplane, name string) (int, error) {
	ports := listenerPorts(view, d)
	if len(ports) == 0 {
		return 0, noListeners(view, d)
	}
	return portNamed(d, "listener", name, ports)
}

// noListeners is the error for a dataplane without listeners.
func noListeners(view *core.View, d *resource.Dataplane) error {
	switch {
	case d.Gateway != nil && d.Gateway.Builtin:
		return NotFoundf("%s has no listeners: in semantics %s no MeshGateway selects it", d.Name, view.Semantics())
	case len(d.Listeners) > 0:
		return NotFoundf("%s has no listeners in semantics %s, only in kuma and kuma3", d.Name, view.Semantics())
	}
	return NotFoundf("%s has no listeners: it is neither a builtin gateway nor a zone proxy; give %s or %s", d.Name, FieldInbound, FieldOutbound)
}

// ListenerNames returns a name of each listener of a dataplane for [Listener]: its name, or
// address:port if another one has the same name.
func ListenerNames(view *core.View, d *resource.Dataplane) []string {
	ports := listenerPorts(view, d)
	count := map[string]int{}
	for i := range ports {
		count[ports[i].names[0]]++
	}
	return lists.MapPointers(ports, func(p *port) string {
		if count[p.names[0]] > 1 {
			return p.address
		}
		return p.names[0]
	})
}

func listenerPorts(view *core.View, d *resource.Dataplane) []port {
	ports := lists.MapPointers(d.GatewayListeners(), func(l *specs.GatewayListener) port {
		number := words.Port(l.Port)
		names := []string{l.Name(), number, d.KRI(number), d.Gateway.MeshGateway.KRI(number)}
		if l.Hostname != "" {
			names = append(names, l.Hostname)
		}
		return port{names: names, address: net.JoinHostPort(cmp.Or(l.Hostname, resource.AnyValue), number)}
	})
	return append(ports, lists.MapPointers(view.Semantics().ZoneListeners(d), func(l *resource.Listener) port {
		section, number := l.SectionName(), words.Port(l.Port)
		return port{names: []string{section, number, l.Type(), d.KRI(section)}, address: net.JoinHostPort(cmp.Or(l.Address, d.Address), number)}
	})...)
}

// Point returns the index of the only inbound or listener with a name. Without a name it is the only
// one of the dataplane. An inbound is named by its name, KRI, address and port, or else its port; one
// without a name has its port as its name. Inbounds with one listener are one inbound, which has
// the names of all (SPEC 1.3). A listener has the names of [Listener]. Listeners have the indexes
// after the inbounds. The error is [ErrNotFound], or [ErrUsage] if the name is left out and there
// are several.
func Point(view *core.View, d *resource.Dataplane, name string) (int, error) {
	what, listeners := "inbound or listener", listenerPorts(view, d)
	if len(listeners) == 0 {
		what = "inbound"
	}
	ports, inbounds := inboundPorts(d)
	ports = append(ports, listeners...)
	at, err := 0, error(nil)
	if name == "" {
		err = isOnly(d, what, ports)
	} else {
		at, err = portNamed(d, what, name, ports)
	}
	switch {
	case err != nil:
		return 0, err
	case at < len(inbounds):
		return inbounds[at], nil
	}
	return len(d.Inbounds) + at - len(inbounds), nil
}
