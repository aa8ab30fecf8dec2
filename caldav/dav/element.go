package dav

import (
	"encoding/xml"
	"slices"
	"strings"
)

// Element is an element of a request whose content a property interprets or stores.
type Element struct {
	XMLName xml.Name
	Attrs   []xml.Attr
	// Text is the element's own text, without the text of its children.
	Text     string
	Children []Element
	// content holds the text and the children in document order.
	content []contentPart
}

// contentPart is a text or a child.
type contentPart struct {
	text  string
	child *Element
}

// Within reads the content of the element that was just opened, up to its end tag. child must consume its whole
// element, by reading or skipping it. text may be nil.
func Within(d *xml.Decoder, child func(xml.StartElement) error, text func(xml.CharData)) error {
	for {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := child(t); err != nil {
				return err
			}
		case xml.CharData:
			if text != nil {
				text(t)
			}
		case xml.EndElement:
			return nil
		}
	}
}

// UnmarshalXML reads an element with all of its content. The guard limits the depth of the recursion.
func (e *Element) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	e.XMLName, e.Attrs = start.Name, start.Attr
	var text strings.Builder
	err := Within(d, func(t xml.StartElement) error {
		child := &Element{}
		if err := child.UnmarshalXML(d, t); err != nil {
			return err
		}
		e.content = append(e.content, contentPart{child: child})
		return nil
	}, func(t xml.CharData) {
		text.Write(t)
		e.content = append(e.content, contentPart{text: string(t)})
	})
	if err != nil {
		return err
	}
	e.Text = text.String()
	for _, part := range e.content {
		if part.child != nil {
			e.Children = append(e.Children, *part.child)
		}
	}
	return nil
}

// Has reports whether the element has a child named n.
func (e *Element) Has(n xml.Name) bool {
	return slices.ContainsFunc(e.Children, func(c Element) bool { return c.XMLName == n })
}

// Attr returns an attribute's value, or "".
func (e *Element) Attr(local string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == local && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// Names are the names of an element's children. Their content is ignored.
type Names []xml.Name

// UnmarshalXML reads the names and skips the content.
func (n *Names) UnmarshalXML(d *xml.Decoder, _ xml.StartElement) error {
	if *n == nil {
		*n = Names{}
	}
	return Within(d, func(t xml.StartElement) error {
		*n = append(*n, t.Name)
		return d.Skip()
	}, nil)
}

// TextOf reads the text of the element that was just opened, without the text of nested elements.
func TextOf(d *xml.Decoder) (string, error) {
	text := make([]byte, 0, 128)
	err := Within(d, func(xml.StartElement) error { return d.Skip() },
		func(t xml.CharData) { text = append(text, t...) })
	return string(text), err
}
