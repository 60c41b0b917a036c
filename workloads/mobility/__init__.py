"""Where hosts go: models and files, each an itinerary that is a pure function of seed and host."""
