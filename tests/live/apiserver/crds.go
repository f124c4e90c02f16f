//go:build never

// Package apiserver is never built: it keeps the module whose CustomResourceDefinitions the tests install in go.mod.
package apiserver

import _ "sigs.k8s.io/gateway-api/pkg/consts"
