"""The authorizer: tells the API Gateway who calls."""
