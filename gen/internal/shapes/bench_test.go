package shapes

import (
	"fmt"
	"testing"
)

// timeouts returns n confs that resemble the confs of operators: each sets the
// connection timeout or the idle timeout, and one or two timeouts of HTTP. The merge
// is not complete before the last one.
func timeouts(n int) []*Timeout {
	confs := make([]*Timeout, n)
	for i := range confs {
		d := func(s int) *Duration {
			v := Duration(1+i%7+s) * 1e9
			return &v
		}
		c := &Timeout{ConnectionTimeout: d(0), HTTP: &TimeoutHTTP{}}
		if i%2 == 0 {
			c.IdleTimeout = d(1)
		}
		switch i % 3 {
		case 0:
			c.HTTP.RequestTimeout = d(2)
		case 1:
			c.HTTP.StreamIdleTimeout = d(3)
		case 2:
			c.HTTP.RequestTimeout, c.HTTP.MaxStreamDuration = d(4), d(5)
		}
		confs[i] = c
	}
	return confs
}

func BenchmarkMerge(b *testing.B) {
	for _, n := range []int{2, 10} {
		b.Run(fmt.Sprintf("confs=%d", n), func(b *testing.B) {
			confs := timeouts(n)
			b.ReportAllocs()
			var m *mergerOfTimeout
			for b.Loop() {
				m = new(mergerOfTimeout)
				for i := n - 1; i >= 0; i-- {
					if m.Fill(confs[i], i) {
						break
					}
				}
			}
			if m.Conf().ConnectionTimeout != confs[n-1].ConnectionTimeout || m.Conf().HTTP.RequestTimeout == nil {
				b.Fatalf("merged to %+v", m.Conf())
			}
		})
	}
}
