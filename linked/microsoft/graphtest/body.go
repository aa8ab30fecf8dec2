package graphtest

import (
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// asHTML returns the body that is stored for one that was sent. Exchange stores HTML: it converts a text.
func asHTML(sent any) any {
	body, _ := sent.(map[string]any)
	content, _ := body["content"].(string)
	if body["contentType"] != "html" {
		text := strings.ReplaceAll(html.EscapeString(content), "\r\n", "\n")
		content = "<div>" + strings.ReplaceAll(text, "\n", "<br>\r\n") + "</div>"
	}
	if !strings.Contains(content, "<html>") {
		content = "<html>\r\n<head>\r\n<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">\r\n" +
			"</head>\r\n<body>\r\n" +
			content + "\r\n</body>\r\n</html>\r\n"
	}
	return map[string]any{"contentType": "html", "content": content}
}

var (
	space  = regexp.MustCompile(`\s+`)
	head   = regexp.MustCompile(`(?s)<head>.*?</head>`)
	anchor = regexp.MustCompile(`<a [^>]*href=["']([^"']*)["'][^>]*>(.*?)</a>`)
	broken = regexp.MustCompile(`<br>|</p>|</div>|</li>`)
	tags   = regexp.MustCompile(`<[a-z/!][^>]*>`)
)

// asText returns a stored body as text. The target of a link follows the link in angle brackets.
func asText(stored string) string {
	text := space.ReplaceAllString(head.ReplaceAllString(stored, ""), " ")
	text = anchor.ReplaceAllString(text, "$2&lt;$1&gt;")
	text = tags.ReplaceAllString(broken.ReplaceAllString(text, "\r\n"), "")
	var lines []string
	for line := range strings.SplitSeq(html.UnescapeString(text), "\r\n") {
		lines = append(lines, strings.Trim(line, " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\r\n")) + "\r\n"
}

// inForm returns an answer with bodies in the form that the request prefers: HTML, unless it asks for text.
func inForm(r *http.Request, answer any) any {
	if !slices.Contains(r.Header.Values("Prefer"), `outlook.body-content-type="text"`) {
		return answer
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		return answer
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return answer
	}
	convert(decoded)
	return decoded
}

func convert(in any) {
	switch v := in.(type) {
	case []any:
		for _, one := range v {
			convert(one)
		}
	case map[string]any:
		for _, one := range v {
			convert(one)
		}
		if content, isBody := v["content"].(string); isBody && v["contentType"] == "html" {
			v["contentType"], v["content"] = "text", asText(content)
		}
	}
}
