"""Whole commands, on what a real API server once answered; no server and no network is needed."""
