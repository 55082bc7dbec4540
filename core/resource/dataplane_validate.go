package resource

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
)

// Validate reports the errors of a dataplane at its place.
func (d *Dataplane) Validate(at *diag.At) {
	d.validate(at, DataplaneKind)
	d.validateNetworking(at.Field("networking"))
}

// validateNetworking checks everything except the identity.
func (d *Dataplane) validateNetworking(at *diag.At) {
	d.validateProxy(at)
	validateOutbounds(at.Field("outbound"), d.Outbounds)
}

// maxInbounds limits the inbounds of a dataplane: they are compared with each other, to find those that
// are one listener.
const maxInbounds = 1000

// validateProxy checks networking except the outbounds, which dataplanes may share.
func (d *Dataplane) validateProxy(at *diag.At) {
	if d.Address == "" {
		at.Field("address").Errorf(diag.EmptyValue, "", "must not be empty")
	}
	validateText(at, "address", d.Address)
	validateText(at, "advertisedAddress", d.AdvertisedAddress)
	if d.Gateway != nil && len(d.Inbounds) > 0 {
		at.Field("gateway").Errorf(diag.BothPresent, "a gateway has no inbounds", "gateway and inbound are both present")
	}
	if d.Gateway != nil && len(d.Listeners) > 0 {
		at.Field("gateway").Errorf(diag.BothPresent, "a zone proxy is not a gateway; give it a Dataplane of its own", "gateway and listeners are both present")
	}
	inbounds := at.Field("inbound")
	if len(d.Inbounds) > maxInbounds {
		inbounds.Index(maxInbounds).Errorf(diag.TooManyItems, "write another dataplane for the others", "a dataplane has at most %d inbounds", maxInbounds)
	}
	for i := range d.Inbounds {
		d.Inbounds[i].validate(inbounds.Index(i))
	}
	for i := range d.Listeners {
		d.Listeners[i].validate(at.Field("listeners").Index(i))
	}
	if d.Gateway != nil {
		specs.ValidateTags(at.Field("gateway").Field("tags"), d.Gateway.Tags)
	}
	if p := d.TransparentProxy; p != nil {
		p.validate(at.Field("transparentProxying"))
	}
}

func (i *Inbound) validate(at *diag.At) {
	conf.ValidatePort(at, "port", i.Port)
	if i.ServicePort != 0 {
		conf.ValidatePort(at, "servicePort", i.ServicePort)
	}
	validateText(at, "name", i.Name)
	validateText(at, "address", i.Address)
	validateText(at, "serviceAddress", i.ServiceAddress)
	validateText(at, "protocol", i.Protocol)
	tags := at.Field("tags")
	specs.ValidateTags(tags, i.Tags)
	if _, present := i.Tags.Get(ServiceTag); !present && len(i.Tags) > 0 {
		tags.Field(ServiceTag).Errorf(diag.MissingField, "", "required tag is missing")
	}
}

func validateOutbounds(at *diag.At, list []Outbound) {
	for i := range list {
		list[i].validate(at.Index(i))
	}
}

func (o *Outbound) validate(at *diag.At) {
	if o.Port != 0 {
		conf.ValidatePort(at, "port", o.Port)
	}
	validateText(at, "address", o.Address)
	specs.ValidateTags(at.Field("tags"), o.Tags)
	if o.Backend != nil {
		o.Backend.validate(at.Field("backendRef"))
		if len(o.Tags) > 0 {
			at.Field("tags").Errorf(diag.BothPresent, "remove them", "an outbound has tags or a backendRef, not both")
		}
	}
}

func (l *Listener) validate(at *diag.At) {
	conf.ValidatePort(at, "port", l.Port)
	validateText(at, "name", l.Name)
	validateText(at, "address", l.Address)
	if l.Address == "" {
		at.Field("address").If(diag.AsKuma).Errorf(diag.MissingField, "", "required field is missing")
	}
	specs.ValidateTags(at.Field("tags"), l.Tags)
}

func (p *TransparentProxy) validate(at *diag.At) {
	for _, port := range []struct {
		field string
		port  uint32
	}{{"redirectPortInbound", p.RedirectPortInbound}, {"redirectPortOutbound", p.RedirectPortOutbound}} {
		redirectPort(port.port).Validate(at.Field(port.field))
	}
	for i := range p.ReachableBackends {
		p.ReachableBackends[i].validate(at.Field("reachableBackends").Field("refs").Index(i))
	}
	if words := ipFamilyMode("").Enum(); p.IPFamilyMode != "" && !slices.Contains(words, p.IPFamilyMode) {
		at.Field("ipFamilyMode").Errorf(diag.UnknownValue, diag.DidYouMean(p.IPFamilyMode, words), "unknown value %q", p.IPFamilyMode)
	}
}
