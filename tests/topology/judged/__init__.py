"""Tests of Gateways, their listeners, and what attaches to them."""
