package dav

// Limits bound the cost of one request before its content is known.
type Limits struct {
	// BodyBytes is the largest XML body after decompression; objects have their own limit.
	BodyBytes int64
	// TokenBytes is the largest tag or text within it.
	TokenBytes int
	// Depth limits how deep elements nest, Elements how many there are (except hrefs), Attributes how many each one
	// has.
	Depth, Elements, Attributes int
	// Hrefs limits the addresses of a multiget, Properties the properties of a request.
	Hrefs, Properties int
}

// DefaultLimits returns limits that leave every known client ample room: Evolution fetches all objects of a collection
// in one multiget.
func DefaultLimits() Limits {
	return Limits{
		BodyBytes: 2 << 20, TokenBytes: 256 << 10, Depth: 32, Elements: 5_000, Attributes: 64,
		Hrefs: 10_000, Properties: 256,
	}
}

// NameMax limits the name of a property, component or namespace: a response may repeat it for each resource.
const NameMax = 1000
