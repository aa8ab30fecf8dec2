// Package deploy tests the files that start the server on Kubernetes. It is a module of its own, so that Kubernetes'
// types are not in the server's.
package deploy

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "rewrite the manifests in packaging/kubernetes")

var packaging = filepath.Join("..", "..", "packaging")

// kinds has a value of each kind in use.
func kinds() map[string]any {
	return map[string]any{
		"Deployment": &apps.Deployment{}, "Service": &core.Service{},
		"PersistentVolumeClaim": &core.PersistentVolumeClaim{}, "Ingress": &networking.Ingress{},
		"PodDisruptionBudget": &policy.PodDisruptionBudget{},
	}
}

// rendered renders the chart with values.
func rendered(t *testing.T, values string) (string, error) {
	t.Helper()
	chart, err := loader.Load(filepath.Join(packaging, "helm", "caldav-mcp-server"))
	if err != nil {
		t.Fatal(err)
	}
	var given map[string]any
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(chart, given, chartutil.ReleaseOptions{
		Name: "calendar", Namespace: "default", IsInstall: true,
	}, chartutil.DefaultCapabilities)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(chart, all)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, name := range slices.Sorted(keys(files)) {
		if body := strings.TrimSpace(files[name]); strings.HasSuffix(name, ".yaml") && body != "" {
			text.WriteString("---\n" + body + "\n")
		}
	}
	return text.String(), nil
}

func keys(files map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}
}

// decoded decodes manifests by kind, and refuses unknown fields.
func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, document := range strings.Split(text, "---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		var head struct{ Kind string }
		if err := yaml.Unmarshal([]byte(document), &head); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		into := kinds()[head.Kind]
		if into == nil || all[head.Kind] != nil {
			t.Fatalf("there is a %q too many", head.Kind)
		}
		if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
			t.Errorf("%s: %v in\n%s", head.Kind, err, document)
		}
		all[head.Kind] = into
	}
	return all
}

// The values of the manifests in packaging/kubernetes.
var manifests = map[string]string{
	"sqlite": "baseURL: https://calendar.example.org\ningress: {enabled: true}\n",
	"postgres": "baseURL: https://calendar.example.org\nreplicas: 3\npostgres: {existingSecret: calendar-postgres}\n" +
		"ingress: {enabled: true}\n",
}

// TestManifests: the plain manifests are the chart's, and Kubernetes knows each field.
func TestManifests(t *testing.T) {
	for name, values := range manifests {
		text, err := rendered(t, values)
		if err != nil {
			t.Fatal(err)
		}
		decoded(t, text)
		text = "# Made from packaging/helm by `go test -update` in tools/deploy. Set image and address.\n" + text
		path := filepath.Join(packaging, "kubernetes", name+".yaml")
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(want, []byte(text)) {
			t.Errorf("%s is not what the chart makes (%v): run go test -update", path, err)
		}
	}
}

// TestChart: the chart's switches do what they say.
func TestChart(t *testing.T) {
	text, err := rendered(t, "{}")
	if err != nil {
		t.Fatal(err)
	}
	all := decoded(t, text)
	one := all["Deployment"].(*apps.Deployment)
	if one.Spec.Strategy.Type != apps.RecreateDeploymentStrategyType || *one.Spec.Replicas != 1 ||
		all["PersistentVolumeClaim"] == nil || all["Ingress"] != nil || all["PodDisruptionBudget"] != nil {
		t.Errorf("with a file:\n%s", text)
	}
	pod := one.Spec.Template.Spec
	if *pod.EnableServiceLinks || !*pod.SecurityContext.RunAsNonRoot ||
		!*pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem ||
		pod.Containers[0].ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Errorf("the pod is\n%+v", pod)
	}
	text, err = rendered(t, `
replicas: 3
postgres: {existingSecret: db}
settings: {LOG_FORMAT: json, JOURNAL_DAYS: 90}
settingsSecret: more
metricsPort: 0
imagePullSecrets: [{name: pull}]
nodeSelector: {disk: fast}
tolerations: [{key: a, operator: Exists}]
affinity: {podAntiAffinity: {}}
ingress: {enabled: true, className: nginx, annotations: {a: b}}
`)
	if err != nil {
		t.Fatal(err)
	}
	all = decoded(t, text)
	several := all["Deployment"].(*apps.Deployment)
	container := several.Spec.Template.Spec.Containers[0]
	env := map[string]core.EnvVar{}
	for _, e := range container.Env {
		env[e.Name] = e
	}
	if *several.Spec.Replicas != 3 || all["PersistentVolumeClaim"] != nil || all["PodDisruptionBudget"] == nil ||
		env["DATABASE_URL"].ValueFrom.SecretKeyRef.Name != "db" || env["JOURNAL_DAYS"].Value != "90" ||
		len(container.Ports) != 2 || container.EnvFrom[0].SecretRef.Name != "more" {
		t.Errorf("with Postgres:\n%s", text)
	}
	_, err = rendered(t, "replicas: 2")
	if err == nil || !strings.Contains(err.Error(), "several replicas need Postgres") {
		t.Errorf("two servers on a file: %v", err)
	}
}
