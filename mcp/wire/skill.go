package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"
)

// skillExtension is the extension for skills (SEP-2640). It exists from MCP 2026-07-28 on.
const skillExtension = "io.modelcontextprotocol/skills"

// Skill describes a text that teaches a model to use the server, and all its files.
type Skill struct {
	URI         string            `json:"uri"`
	Frontmatter map[string]string `json:"frontmatter"`
	Resources   []SkillFile       `json:"resources"`
}

// SkillFile is a file of a skill, which hosts read as a resource and compare with the digest.
type SkillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// NewSkill returns a skill of one file.
func NewSkill(uri string, frontmatter map[string]string, text string) Skill {
	sum := sha256.Sum256([]byte(text))
	return Skill{
		URI: uri, Frontmatter: frontmatter,
		Resources: []SkillFile{{URI: uri, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(text)}},
	}
}

// skillAge is how long hosts may cache an entry: skills change only with a new release of the server.
const skillAge = time.Hour

// skillResult is the result of both methods: a list or one skill, the same for all callers.
type skillResult struct {
	ResultType string  `json:"resultType"`
	Skills     []Skill `json:"skills,omitempty"`
	Skill      *Skill  `json:"skill,omitempty"`
	TTL        int64   `json:"ttlMs"`
	CacheScope string  `json:"cacheScope"`
}

// listSkills serves skills/list. All skills are on the first page.
func (e *Endpoint) listSkills(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) {
	e.serveSkills(w, r, x, header, func(p skillParams) (skillResult, *Error) {
		if p.Cursor != "" {
			return skillResult{}, Errorf(CodeParams, "there is no such cursor: the first page has all skills")
		}
		return skillResult{Skills: e.skills}, nil
	})
}

// getSkill serves skills/get.
func (e *Endpoint) getSkill(w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header) {
	e.serveSkills(w, r, x, header, func(p skillParams) (skillResult, *Error) {
		for _, s := range e.skills {
			if s.URI == p.URI {
				return skillResult{Skill: &s}, nil
			}
		}
		return skillResult{}, Errorf(CodeParams, "there is no such skill: skills/list lists all")
	})
}

// skillParams are the parameters of both methods.
type skillParams struct {
	URI    string `json:"uri"`
	Cursor string `json:"cursor"`
}

// serveSkills answers a request for skills. The transport validates it first, and then does not know its method.
func (e *Endpoint) serveSkills(
	w http.ResponseWriter, r *http.Request, x *Exchange, header http.Header,
	answer func(skillParams) (skillResult, *Error),
) {
	checked := verdict{header: make(http.Header)}
	e.transport.Handle(&checked, x.request(r, header))
	var said struct{ Error Error }
	if !x.Version.Modern() || len(e.skills) == 0 || json.Unmarshal(checked.body.Bytes(), &said) != nil ||
		said.Error.Code != CodeMethod {
		status, body := e.settle(w, x, checked.status, checked.body.Bytes())
		writeJSON(w, status, body)
		return
	}
	var params skillParams
	var result skillResult
	var err *Error
	if len(x.Message.Params) > 0 && json.Unmarshal(x.Message.Params, &params) != nil {
		err = Errorf(CodeParams, `"uri" and "cursor" are strings`)
	} else {
		result, err = answer(params)
	}
	if err != nil {
		sendError(w, StatusOf(x.Version, err.Code), x.Message.id, err)
		return
	}
	result.ResultType, result.TTL, result.CacheScope = "complete", skillAge.Milliseconds(), "public"
	e.send(w, x, result)
}
