"""The ground the rooms stand on: frozen values and errors that every room shares."""
