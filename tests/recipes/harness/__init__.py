"""What the recipes' tests share: a network of its own, an origin, two nodes, machines with real clients, and the steps."""
