package fleet

import "testing"

// BenchmarkStreamFleet serves a small fleet through three relays, and reports the slopes of bench/FLEET.md:
//
//	source-KiB/stream, relay-KiB/stream  memory of a stream with its client, and what a relay adds
//	connect-ns/stream                    processor time of relays until a stream has everything
//	edit-ns/stream, renew-ns/stream      of all, until a stream has a changed policy or certificate
func BenchmarkStreamFleet(b *testing.B) {
	const streams = 1000
	b.Run("streams=1000", func(b *testing.B) {
		var r *Report
		for b.Loop() {
			var err error
			if r, err = Measure(b.Context(), options(b, streams), func(string) {}); err != nil {
				b.Fatal(err)
			}
		}
		perStream := func(seconds float64) float64 { return seconds * 1e9 / streams }
		b.ReportMetric(r.Source/1024, "source-KiB/stream")
		b.ReportMetric(r.Relay/1024, "relay-KiB/stream")
		b.ReportMetric(perStream(r.step(ConnectRelays).CPU.Relays), "connect-ns/stream")
		b.ReportMetric(perStream(r.step(EditAll).CPU.Total()), "edit-ns/stream")
		b.ReportMetric(perStream(r.step(Renew).CPU.Total()), "renew-ns/stream")
	})
}
