package caldav

import "encoding/xml"

// The namespaces that every response declares on its root element.
const (
	davNS      = "DAV:"
	caldavNS   = "urn:ietf:params:xml:ns:caldav"
	serverNS   = "http://calendarserver.org/ns/"
	appleNS    = "http://apple.com/ns/ical/"
	owncloudNS = "http://owncloud.org/ns"
)

// vocabulary are the namespaces of responses.
var vocabulary = newNamespaces([2]string{"d", davNS}, [2]string{"c", caldavNS}, [2]string{"cs", serverNS}, [2]string{"a", appleNS}, [2]string{"oc", owncloudNS})

func dav(local string) xml.Name      { return xml.Name{Space: davNS, Local: local} }
func caldav(local string) xml.Name   { return xml.Name{Space: caldavNS, Local: local} }
func server(local string) xml.Name   { return xml.Name{Space: serverNS, Local: local} }
func apple(local string) xml.Name    { return xml.Name{Space: appleNS, Local: local} }
func owncloud(local string) xml.Name { return xml.Name{Space: owncloudNS, Local: local} }
