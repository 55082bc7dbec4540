package fleet

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"runtime/pprof"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/meshmatch/meshmatch/core/internal/usage"
)

// A role is a part of the process. Its goroutines have a label of the profiler, and so have those
// that they start.
type role string

// The roles. What has none is the scheduler and the collection of garbage.
const (
	sourceRole role = "source"
	relayRole  role = "relay"
	clientRole role = "client"
	checkRole  role = "check" // what finds out whether a step is over: it is in no figure
	noRole     role = ""
)

const roleLabel = "role"

// do calls a function in a role.
func (r role) do(f func()) {
	pprof.Do(context.Background(), pprof.Labels(roleLabel, string(r)), func(context.Context) { f() })
}

// CPU is the processor time of the roles in a step, in seconds.
type CPU struct {
	Source  float64 `json:"source"`
	Relays  float64 `json:"relays"`
	Clients float64 `json:"clients"`
	// Runtime is the time of goroutines without a role: most of it collects garbage.
	Runtime float64 `json:"runtime"`
}

// Total returns the processor time of all roles.
func (c CPU) Total() float64 { return c.Source + c.Relays + c.Clients + c.Runtime }

// A meter divides the processor time of a step among the roles by the samples of a profile. A
// second of a processor has 100 samples.
type meter struct {
	profile bytes.Buffer
	begin   time.Duration
}

// start fails if the process is profiled already.
func (m *meter) start() error {
	m.begin = usage.CPU()
	return pprof.StartCPUProfile(&m.profile)
}

// stop ends a step that may have failed.
func (m *meter) stop(failed error) (CPU, error) {
	total := (usage.CPU() - m.begin).Seconds()
	pprof.StopCPUProfile()
	if failed != nil {
		return CPU{}, failed
	}
	samples, err := samplesByRole(&m.profile)
	if err != nil {
		return CPU{}, err
	}
	all := 0.0
	for _, n := range samples {
		all += n
	}
	share := func(r role) float64 { return total * samples[r] / max(1, all) }
	return CPU{Source: share(sourceRole), Relays: share(relayRole), Clients: share(clientRole), Runtime: share(noRole)}, nil
}

// The numbers of fields of a profile (github.com/google/pprof/proto/profile.proto).
const (
	profileSample, profileStrings = 2, 6
	sampleValue, sampleLabel      = 2, 3
	labelKey, labelText           = 1, 2
)

var errProfile = errors.New("the profile cannot be read")

// samplesByRole returns how many samples of a profile each role has.
func samplesByRole(profile io.Reader) (map[role]float64, error) {
	unzipped, err := gzip.NewReader(profile)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(unzipped)
	if err != nil {
		return nil, err
	}
	var texts []string
	type sample struct {
		count  uint64
		labels map[uint64]uint64 // both are numbers of texts
	}
	var samples []*sample
	err = eachField(b, func(number protowire.Number, _ uint64, value []byte) error {
		switch number {
		case profileStrings:
			texts = append(texts, string(value))
		case profileSample:
			s := &sample{labels: map[uint64]uint64{}}
			samples = append(samples, s)
			values := 0
			return eachField(value, func(number protowire.Number, n uint64, value []byte) error {
				switch number {
				case sampleValue: // the first one is the number of samples
					if values++; values == 1 {
						s.count = n
					}
				case sampleLabel:
					var key, text uint64
					err := eachField(value, func(number protowire.Number, n uint64, _ []byte) error {
						switch number {
						case labelKey:
							key = n
						case labelText:
							text = n
						}
						return nil
					})
					s.labels[key] = text
					return err
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	of := map[role]float64{}
	for _, s := range samples {
		r := noRole
		for key, text := range s.labels {
			if key < uint64(len(texts)) && text < uint64(len(texts)) && texts[key] == roleLabel {
				r = role(texts[text])
			}
		}
		of[r] += float64(s.count)
	}
	return of, nil
}

// eachField calls a function for each field of a message that is a number or has a length.
func eachField(b []byte, do func(number protowire.Number, n uint64, value []byte) error) error {
	for len(b) > 0 {
		number, kind, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return errProfile
		}
		b = b[tag:]
		length := protowire.ConsumeFieldValue(number, kind, b)
		if length < 0 {
			return errProfile
		}
		var n uint64
		var value []byte
		switch kind {
		case protowire.VarintType:
			n, _ = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			value, _ = protowire.ConsumeBytes(b)
		}
		if err := do(number, n, value); err != nil {
			return err
		}
		b = b[length:]
	}
	return nil
}
