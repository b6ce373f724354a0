"""The task graph: planners plan, workers work, people steer, the sweeper sees to what nobody else does."""
