"""One curve for each joint: planes that stand still, hinges that are a local axis."""
