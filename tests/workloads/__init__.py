"""Traffic and mobility: what is drawn, what is read, and that it is the same every time."""
