package replicas

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/cli"
)

// commandVariable makes this binary be the command.
const commandVariable = "MESHMATCH_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(commandVariable) != "" {
		signal.Ignore(syscall.SIGXFSZ) // so that a write beyond the limit is an error, as on a full disk
		cli.Program{}.Main()
	}
	os.Exit(m.Run())
}
