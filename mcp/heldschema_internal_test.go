package mcp

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestHeldSchemasAreThoseOfTheList: for any list of tools, after any number of lists, the cached schemas equal newly
// generated ones, and the cache keeps its limit.
func TestHeldSchemasAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	var held heldSchemas
	all := Config{}.toolbox().tools()
	random := rand.New(rand.NewPCG(73, 1))
	var lists [][]tool
	for n := range heldMost + heldMost/4 {
		var list []tool
		for _, one := range all {
			if random.IntN(4) > 0 {
				list = append(list, one)
			}
		}
		lists = append(lists, list)
		for _, asked := range [][]tool{list, lists[random.IntN(len(lists))]} {
			// Compared by cmp alone, the texts take as long as all other tests of the package.
			if anew, given := outputSchemas(asked), held.of(asked); !reflect.DeepEqual(anew, given) {
				t.Fatalf("list %d (-anew +held):\n%s", n, cmp.Diff(anew, given))
			}
		}
		if len(held.held) > heldMost {
			t.Fatalf("%d lists are held", len(held.held))
		}
	}
}
