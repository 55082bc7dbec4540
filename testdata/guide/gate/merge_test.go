package gate

import (
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
)

func BenchmarkMerge(b *testing.B) {
	kind := meshtimeout.Kind().To.Conf
	timeout := conf.Duration(time.Second)
	for b.Loop() {
		merger := kind.NewMerger()
		merger.Fill(&meshtimeout.Conf{ConnectionTimeout: &timeout}, 1)
		if *merger.Conf().(*meshtimeout.Conf).ConnectionTimeout != timeout {
			b.Fatal("not merged")
		}
	}
}
