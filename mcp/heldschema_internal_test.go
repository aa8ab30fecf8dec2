package mcp

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHeldSchemasAreThoseOfTheList: whichever tools are listed, and however many lists there were before, the schemas are
// what they would be if they were written anew, and no more lists are held than there is room for.
func TestHeldSchemasAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	var held heldSchemas
	all := Config{}.toolbox().tools()
	random := rand.New(rand.NewPCG(73, 1))
	var lists [][]tool
	for n := range 3 * heldMost {
		var list []tool
		for _, one := range all {
			if random.IntN(4) > 0 {
				list = append(list, one)
			}
		}
		lists = append(lists, list)
		for _, asked := range [][]tool{list, lists[random.IntN(len(lists))]} {
			if diff := cmp.Diff(outputSchemas(asked), held.of(asked)); diff != "" {
				t.Fatalf("list %d (-anew +held):\n%s", n, diff)
			}
		}
		if len(held.held) > heldMost {
			t.Fatalf("%d lists are held", len(held.held))
		}
	}
}
