package translators

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshTimeout translates MeshTimeout: connect, idle and connection timeouts of
// clusters and listeners, request and stream timeouts of routes.
func meshTimeout() xds.Translator {
	return xds.Translator{
		Kind:    "MeshTimeout",
		Cluster: clusterTimeouts,
		Inbound: inboundTimeouts,
		Chain:   inboundConnectionTimeouts,
	}
}

func clusterTimeouts(c *xds.Cluster, e *rules.Effective) {
	timeout := rules.ConfOf[meshtimeout.Conf](e)
	if timeout == nil {
		return
	}
	setDuration(&c.Message.ConnectTimeout, timeout.ConnectionTimeout)
}

// setDuration replaces a duration of a message by one of a conf, if that is set.
func setDuration(to **durationpb.Duration, d *conf.Duration) {
	if d != nil {
		*to = durationpb.New(time.Duration(*d))
	}
}
