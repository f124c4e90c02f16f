"""Delegation between routes: references, matches of requests, and the order of routes."""
