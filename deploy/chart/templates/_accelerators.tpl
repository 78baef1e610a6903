{{/*
The document that the operator reads about accelerators, or nothing. The files of accelerators/ are what the charts of
old put there, and what manifests of then need today.
*/}}
{{- define "dl-operator.accelerators" -}}
{{- with .Values.accelerators -}}
{{- if and .config .cloud -}}
{{- fail "accelerators.cloud and accelerators.config exclude each other: set one of them" -}}
{{- end -}}
{{- if .config -}}
{{- toYaml .config -}}
{{- else if .cloud -}}
{{- $.Files.Get (printf "accelerators/%s.yaml" (ternary "azure-tensorflow" .cloud (eq .cloud "azure"))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
