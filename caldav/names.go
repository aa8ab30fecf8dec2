package caldav

import (
	"encoding/xml"

	"caldav-mcp-server/caldav/dav"
)

// The namespaces that every response declares on its root element.
const (
	caldavNS   = "urn:ietf:params:xml:ns:caldav"
	serverNS   = "http://calendarserver.org/ns/"
	appleNS    = "http://apple.com/ns/ical/"
	owncloudNS = "http://owncloud.org/ns"
)

// vocabulary are the namespaces of responses.
var vocabulary = dav.NewNamespaces([2]string{"d", dav.NS}, [2]string{"c", caldavNS}, [2]string{"cs", serverNS}, [2]string{"a", appleNS}, [2]string{"oc", owncloudNS})

func caldav(local string) xml.Name   { return xml.Name{Space: caldavNS, Local: local} }
func server(local string) xml.Name   { return xml.Name{Space: serverNS, Local: local} }
func apple(local string) xml.Name    { return xml.Name{Space: appleNS, Local: local} }
func owncloud(local string) xml.Name { return xml.Name{Space: owncloudNS, Local: local} }
