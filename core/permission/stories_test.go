package permission_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/permissiontest"
)

func TestStories(t *testing.T) {
	stories, err := permissiontest.Stories()
	if err != nil {
		t.Fatal(err)
	}
	for _, story := range stories {
		t.Run(story.Name, func(t *testing.T) {
			permissions, err := permissiontest.Permissions(story.Set)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range story.Requests {
				if got := permissiontest.Text(permissions[x.Inbound].Decide(x.Client.Request())); got != x.Want {
					t.Errorf("%s\n\tgot %s", x.Line, got)
				}
			}
		})
	}
}
